import { NAMESPACE, type Stated } from './metric-names.ts';

/** CloudWatch takes so many values of a metric in a record. */
const MOST_VALUES = 100;

/** Values that stand for all: every so many in order of size, the least and the greatest among them. */
function thinned(values: readonly number[]): number[] {
  if (values.length <= MOST_VALUES) return [...values];
  const ordered = values.toSorted((a, b) => a - b);
  const step = (ordered.length - 1) / (MOST_VALUES - 1);
  return Array.from({ length: MOST_VALUES }, (_, i) => ordered[Math.round(i * step)] ?? 0);
}

/** A metric with what was measured of it: any number of values, of more than 100 those that stand for them. */
export type Measured = readonly [metric: Stated, values: readonly number[]];

/**
 * The fields that make a log line a record of metrics as well (CloudWatch embedded metric format). Metrics without values are
 * left out.
 *
 * @param dimensions names and values, all of them together one set of dimensions
 */
export function metricFields(
  dimensions: Readonly<Record<string, string>>,
  measured: readonly Measured[],
): Readonly<Record<string, unknown>> {
  const told = measured.filter(([, values]) => values.length > 0);
  if (told.length === 0) return dimensions;
  return {
    ...dimensions,
    ...Object.fromEntries(told.map(([{ name }, values]) => [name, values.length === 1 ? values[0] : thinned(values)])),
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: NAMESPACE,
          Dimensions: [Object.keys(dimensions)],
          Metrics: told.map(([{ name, unit }]) => ({ Name: name, Unit: unit })),
        },
      ],
    },
  };
}
