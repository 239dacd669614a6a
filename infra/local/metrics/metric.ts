/** A metric as CloudWatch tells them apart: the same name with other dimensions is another metric. */
export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** A value of a metric, measured at a time in ms since the epoch. */
export interface Datum extends MetricId {
  readonly timeMs: number;
  readonly value: number;
}

/** Text that is equal for equal metrics, whatever the order of their dimensions. */
export function metricKey({ namespace, name, dimensions }: MetricId): string {
  return JSON.stringify([
    namespace,
    name,
    ...Object.keys(dimensions)
      .toSorted()
      .flatMap((d) => [d, dimensions[d]]),
  ]);
}

/**
 * Which points are asked for: one for every `stepMs` from `startMs` up to `endMs`; each stands for the `periodMs` that end
 * with its step. CloudWatch's step is the period; a smaller one gives windows that overlap.
 */
export interface Grid {
  readonly startMs: number;
  readonly endMs: number;
  readonly periodMs: number;
  readonly stepMs: number;
}

/** A grid of whole periods, aligned as CloudWatch aligns them, that ends with the last period complete at `nowMs`. */
export function completePeriods(nowMs: number, periodMs: number, count: number): Grid {
  // An alarm of a longer period looks every minute, over a window that ends with that minute.
  const alignMs = Math.min(periodMs, 60_000);
  const endMs = Math.floor(nowMs / alignMs) * alignMs;
  return { startMs: endMs - count * periodMs, endMs, periodMs, stepMs: periodMs };
}

/** The starts of the steps of a grid, oldest first. */
export function timesOf({ startMs, endMs, stepMs }: Grid): number[] {
  return Array.from({ length: Math.max(0, Math.ceil((endMs - startMs) / stepMs)) }, (_, i) => startMs + i * stepMs);
}
