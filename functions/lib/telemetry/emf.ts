import { type Measure, NAMESPACE, QUEUE_DIMENSION, TENANT_DIMENSION } from './metric-names.ts';

/** CloudWatch takes so many values of a metric in a record. */
const MOST_VALUES = 100;

/** Values that stand for all: every so many in order of size, the least and the greatest among them. */
function thinned(values: readonly number[]): number[] {
  if (values.length <= MOST_VALUES) return [...values];
  const ordered = values.toSorted((a, b) => a - b);
  const step = (ordered.length - 1) / (MOST_VALUES - 1);
  return Array.from({ length: MOST_VALUES }, (_, i) => ordered[Math.round(i * step)] ?? 0);
}

/** Whom the metrics of a record are of: the queue, or a label of its tenants. */
interface Dimensions {
  readonly queue: string;
  readonly tenant?: string;
}

/** A metric and its values in a record; without any, the record does not tell of it. */
export type Measured = readonly [metric: Measure, values: readonly number[]];

/**
 * The fields that make a log line a record of metrics as well (CloudWatch embedded metric format), so that what happened
 * and what is counted cannot differ. Of more than 100 values of a metric, 100 that stand for them.
 */
export function metricFields({ queue, tenant }: Dimensions, given: readonly Measured[]): Record<string, unknown> {
  const dimensions = { [QUEUE_DIMENSION]: queue, ...(tenant !== undefined && { [TENANT_DIMENSION]: tenant }) };
  const measured = given.filter(([, values]) => values.length > 0);
  if (measured.length === 0) return dimensions;
  const directive = {
    Namespace: NAMESPACE,
    Dimensions: [Object.keys(dimensions)],
    Metrics: measured.map(([{ name, unit }]) => ({ Name: name, Unit: unit })),
  };
  return {
    ...dimensions,
    ...Object.fromEntries(
      measured.map(([{ name }, values]) => [name, values.length === 1 ? values[0] : thinned(values)]),
    ),
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] },
  };
}
