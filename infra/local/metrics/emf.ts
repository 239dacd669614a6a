import { isObject, type JsonObject } from '../template.ts';
import type { Datum } from './metric.ts';

// Limits of the service: a record that breaks one is thrown away there, and nobody is told.
const MOST_METRICS = 100;
const MOST_VALUES = 100;
const MOST_DIMENSIONS = 30;
const LONGEST_NAME = 1_024;
const LARGEST_RECORD_BYTES = 1_048_576;
const OLDEST_MS = 14 * 86_400_000;
const FURTHEST_MS = 2 * 3_600_000;

/**
 * The values in a log line, as CloudWatch reads them out of the embedded metric format: one for each metric, dimension set
 * and array item. A line that is no record of that format has none; one that CloudWatch would not take is told of, with
 * the reason, and has none either.
 *
 * Source: CloudWatch's specification of the embedded metric format, and PutMetricData for names and dimensions.
 */
export function parseEmf(line: string, onProblem: (line: string) => void, nowMs = Date.now()): Datum[] {
  if (!line.includes('"_aws"')) return [];
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return [];
  }
  const { _aws: directions } = isObject(record) ? record : {};
  if (!isObject(record) || !isObject(directions)) return [];
  try {
    if (Buffer.byteLength(line) > LARGEST_RECORD_BYTES) throw new Error('it is larger than 1 MB');
    return read(record, directions, nowMs);
  } catch (error) {
    onProblem(`An EMF record is not taken: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

function read(record: JsonObject, { Timestamp: timeMs, CloudWatchMetrics: directives }: JsonObject, nowMs: number) {
  if (typeof timeMs !== 'number' || !Number.isInteger(timeMs)) {
    throw new Error(`Timestamp is ${JSON.stringify(timeMs)}; it must be whole ms since the epoch`);
  }
  if (timeMs < nowMs - OLDEST_MS || timeMs > nowMs + FURTHEST_MS) {
    throw new Error(`Timestamp ${timeMs} is more than two weeks old or more than two hours ahead`);
  }
  if (!Array.isArray(directives)) throw new Error('CloudWatchMetrics must be a list');
  return directives.flatMap((directive: unknown) => readDirective(record, directive, timeMs));
}

function readDirective(record: JsonObject, directive: unknown, timeMs: number): Datum[] {
  if (!isObject(directive)) throw new Error('an item of CloudWatchMetrics is no object');
  const { Namespace: namespace, Dimensions: sets, Metrics: metrics } = directive;
  if (typeof namespace !== 'string' || namespace === '') throw new Error('Namespace is missing');
  if (!Array.isArray(sets) || !Array.isArray(metrics)) throw new Error('Dimensions and Metrics must be lists');
  if (metrics.length > MOST_METRICS) throw new Error(`${metrics.length} metrics; at most ${MOST_METRICS} are allowed`);
  const dimensionSets = sets.map((set: unknown) => readDimensions(record, set));
  return metrics.flatMap((metric: unknown) => {
    const name = isObject(metric) ? metric.Name : undefined;
    if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) throw new Error('a metric has no Name');
    const values = readValues(name, record[name]);
    return dimensionSets.flatMap((dimensions) =>
      values.map((value) => ({ namespace, name, dimensions, timeMs, value })),
    );
  });
}

function readDimensions(record: JsonObject, set: unknown): Record<string, string> {
  if (!Array.isArray(set)) throw new Error('a set of Dimensions is no list');
  if (set.length > MOST_DIMENSIONS) throw new Error(`${set.length} dimensions; at most ${MOST_DIMENSIONS} are allowed`);
  return Object.fromEntries(
    set.map((name: unknown) => {
      if (typeof name !== 'string') throw new Error('the name of a dimension is no text');
      const value = record[name];
      if (typeof value !== 'string' || value.trim() === '' || value.length > LONGEST_NAME) {
        throw new Error(`dimension ${name} is ${JSON.stringify(value)}; it must be a text of 1 to 1,024 characters`);
      }
      // oxlint-disable-next-line no-control-regex
      if (!/^[\x20-\x7e]*$/.test(value) || value.startsWith(':')) {
        throw new Error(`dimension ${name} is ${JSON.stringify(value)}; it must be ASCII and not begin with a colon`);
      }
      return [name, value];
    }),
  );
}

function readValues(name: string, given: unknown): number[] {
  const values: unknown[] = Array.isArray(given) ? given : [given];
  if (values.length > MOST_VALUES) {
    throw new Error(`metric ${name} has ${values.length} values; at most ${MOST_VALUES} are allowed`);
  }
  return values.map((value) => {
    if (typeof value !== 'number') throw new Error(`metric ${name} is ${JSON.stringify(value)}; it must be a number`);
    return value;
  });
}
