import { type Datum, type Grid, metricKey, type MetricId, timesOf } from './metric.ts';
import { Statistics } from './statistics.ts';

/** Values are kept together by this much time; windows begin and end at its multiples. */
const RESOLUTION_MS = 10_000;

const KEPT_MS = 3 * 3_600_000;
const MOST_METRICS = 5_000;

/** A metric's values, oldest bucket first; each bucket holds what was measured in `RESOLUTION_MS`. */
interface Series {
  readonly id: MetricId;
  readonly buckets: Map<number, Statistics>;
  newestMs: number;
}

/**
 * The metrics of a run, as long as it lasts, the last three hours of each. Records may come in any order and with any time
 * of these hours: one that is stamped anew counts where its stamp says.
 */
export class MetricStore {
  readonly #series = new Map<string, Series>();
  readonly #onProblem: (line: string) => void;
  #refused = false;

  constructor(onProblem: (line: string) => void) {
    this.#onProblem = onProblem;
  }

  /** Adds values. Beyond 5,000 metrics no new one is taken in, and told of once. */
  record(...data: readonly Datum[]): void {
    for (const datum of data) {
      const series = this.#find(datum);
      if (!series) continue;
      const at = Math.floor(datum.timeMs / RESOLUTION_MS) * RESOLUTION_MS;
      let bucket = series.buckets.get(at);
      if (!bucket) series.buckets.set(at, (bucket = new Statistics()));
      bucket.add(datum.value);
      if (at > series.newestMs) this.#advance(series, at);
    }
  }

  /** The metrics that have values, in the order they came. */
  metrics(): MetricId[] {
    return [...this.#series.values()].map(({ id }) => id);
  }

  /** What was measured in each window of the grid; undefined where nothing was. */
  query(id: MetricId, grid: Grid): (Statistics | undefined)[] {
    const buckets = this.#series.get(metricKey(id))?.buckets;
    return timesOf(grid).map((startMs) => {
      if (!buckets) return undefined;
      const window = new Statistics();
      const endMs = startMs + grid.stepMs;
      const first = Math.ceil((endMs - grid.periodMs) / RESOLUTION_MS) * RESOLUTION_MS;
      for (let at = first; at < endMs; at += RESOLUTION_MS) window.merge(buckets.get(at));
      return window.count > 0 ? window : undefined;
    });
  }

  /** Time of the newest values of a metric, in ms since the epoch, to 10 s; undefined when there are none. */
  newestMs(id: MetricId): number | undefined {
    return this.#series.get(metricKey(id))?.newestMs;
  }

  /** The average of a metric's newest values, unless they are from before `sinceMs`. */
  newest(id: MetricId, sinceMs: number): number | undefined {
    const series = this.#series.get(metricKey(id));
    if (!series || series.newestMs < sinceMs) return undefined;
    return series.buckets.get(series.newestMs)?.get('Average');
  }

  /** Forgets everything, or the metrics of which `which` is true. */
  clear(which: (id: MetricId) => boolean = () => true): void {
    for (const [key, { id }] of this.#series) if (which(id)) this.#series.delete(key);
  }

  #find(id: MetricId): Series | undefined {
    const key = metricKey(id);
    const known = this.#series.get(key);
    if (known) return known;
    if (this.#series.size >= MOST_METRICS) {
      if (!this.#refused) this.#onProblem(`More than ${MOST_METRICS} metrics: ${key} and further ones are not kept`);
      this.#refused = true;
      return undefined;
    }
    const { namespace, name, dimensions } = id;
    const series = { id: { namespace, name, dimensions }, buckets: new Map<number, Statistics>(), newestMs: -Infinity };
    this.#series.set(key, series);
    return series;
  }

  #advance(series: Series, atMs: number): void {
    series.newestMs = atMs;
    for (const old of series.buckets.keys()) if (old < atMs - KEPT_MS) series.buckets.delete(old);
  }
}
