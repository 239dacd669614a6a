import * as z from 'zod/mini';

/** A log line that is a record in CloudWatch's embedded metric format. */
export interface EmfRecord {
  readonly timestampMs: number;
  readonly namespace: string;
  readonly dimensions: readonly string[];
  /** The label, in records of a tenant. */
  readonly tenant: string | undefined;
  readonly values: Readonly<Record<string, number[]>>;
  /** The line as a whole. */
  readonly line: Readonly<Record<string, unknown>>;
}

const values = z.array(z.number()).check(z.maxLength(100), z.minLength(1));

const root = z.looseObject({
  _aws: z.strictObject({
    Timestamp: z.int(),
    CloudWatchMetrics: z.tuple([
      z.strictObject({
        Namespace: z.string(),
        Dimensions: z.tuple([z.array(z.string())]),
        Metrics: z
          .array(z.strictObject({ Name: z.string(), Unit: z.enum(['Count', 'Seconds', 'Bytes', 'None']) }))
          .check(z.maxLength(100), z.minLength(1)),
      }),
    ]),
  }),
});

/** The records among log lines. @throws Error for one that CloudWatch would not take */
export function emfRecords(lines: readonly string[]): EmfRecord[] {
  return lines
    .filter((text) => text.includes('"_aws"'))
    .map((text) => {
      const line = root.parse(JSON.parse(text));
      const [{ Namespace, Dimensions, Metrics }] = line._aws.CloudWatchMetrics;
      const [dimensions] = Dimensions;
      for (const dimension of dimensions) z.string().check(z.minLength(1), z.maxLength(1024)).parse(line[dimension]);
      return {
        timestampMs: line._aws.Timestamp,
        namespace: Namespace,
        dimensions,
        tenant: dimensions.includes('tenant') ? String(line.tenant) : undefined,
        values: Object.fromEntries(Metrics.map(({ Name }) => [Name, values.parse([line[Name]].flat())])),
        line,
      };
    });
}

/** The one value of a metric among records, of a tenant or of the queue. @throws Error when there is none, or are several */
export function valueOf(records: readonly EmfRecord[], tenant: string | undefined, name: string): number {
  const found = records.filter((record) => record.tenant === tenant).flatMap((record) => record.values[name] ?? []);
  const [value] = found;
  if (value === undefined || found.length > 1) throw new Error(`${found.length} values of ${name}, expected one`);
  return value;
}
