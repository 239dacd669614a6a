import { NAMESPACE, QUEUE_DIMENSION, type eventMetrics } from './metric-names.ts';

/** CloudWatch takes so many values of a metric in a record. */
const MOST_VALUES = 100;

/** Values that stand for all: every so many in order of size, the least and the greatest among them. */
function thinned(values: readonly number[]): number[] {
  if (values.length <= MOST_VALUES) return [...values];
  const ordered = values.toSorted((a, b) => a - b);
  const step = (ordered.length - 1) / (MOST_VALUES - 1);
  return Array.from({ length: MOST_VALUES }, (_, i) => ordered[Math.round(i * step)] ?? 0);
}

/**
 * The fields that make a log line a record of a metric as well (CloudWatch embedded metric format). None without values.
 * Of more than 100 values, 100 that stand for them.
 */
export function metricFields(
  queue: string,
  { name, unit }: (typeof eventMetrics)[keyof typeof eventMetrics],
  values: readonly number[],
): Readonly<Record<string, unknown>> {
  const fields = { [QUEUE_DIMENSION]: queue };
  if (values.length === 0) return fields;
  const metrics = [{ Name: name, Unit: unit }];
  return {
    ...fields,
    [name]: values.length === 1 ? values[0] : thinned(values),
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [{ Namespace: NAMESPACE, Dimensions: [[QUEUE_DIMENSION]], Metrics: metrics }],
    },
  };
}
