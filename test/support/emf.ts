import { parseEmf } from '../../infra/local/metrics/emf.ts';

/** A log line that is a record in CloudWatch's embedded metric format. */
export interface EmfRecord {
  readonly dimensions: readonly string[];
  /** The label, in records of a tenant. */
  readonly tenant: string | undefined;
  readonly values: Readonly<Record<string, number[]>>;
  /** The line as a whole. */
  readonly line: Readonly<Record<string, unknown>>;
}

const refuse = (problem: string): never => {
  throw new Error(problem);
};

/** The records among log lines. @throws Error for one that CloudWatch would not take */
export function emfRecords(lines: readonly string[]): EmfRecord[] {
  return lines.flatMap((text) => {
    const data = parseEmf(text, refuse);
    const [first] = data;
    if (first === undefined) return [];
    const values: Record<string, number[]> = {};
    for (const { name, value } of data) (values[name] ??= []).push(value);
    const { dimensions } = first;
    return [{ dimensions: Object.keys(dimensions), tenant: dimensions.tenant, values, line: Object(JSON.parse(text)) }];
  });
}

/** The one value of a metric among records, of a tenant or of the queue. @throws Error when there is none, or are several */
export function valueOf(records: readonly EmfRecord[], tenant: string | undefined, name: string): number {
  const found = records.filter((record) => record.tenant === tenant).flatMap((record) => record.values[name] ?? []);
  const [value] = found;
  if (value === undefined || found.length > 1) throw new Error(`${found.length} values of ${name}, expected one`);
  return value;
}
