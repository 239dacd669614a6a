/** The statistics of CloudWatch that are known here: these, and percentiles (`p50`, `p99.9`). */
const PLAIN = ['Average', 'Sum', 'Minimum', 'Maximum', 'SampleCount'] as const;

/**
 * What is kept of any number of values: count, sum and extremes exactly; the values themselves to three digits, which
 * bounds the memory and keeps percentiles within half a percent.
 */
export class Statistics {
  count = 0;
  #sum = 0;
  #minimum = Infinity;
  #maximum = -Infinity;
  readonly #values = new Map<number, number>();

  add(value: number): void {
    this.count++;
    this.#sum += value;
    this.#minimum = Math.min(this.#minimum, value);
    this.#maximum = Math.max(this.#maximum, value);
    const rounded = Number(value.toPrecision(3));
    this.#values.set(rounded, (this.#values.get(rounded) ?? 0) + 1);
  }

  merge(other: Statistics | undefined): void {
    if (!other) return;
    this.count += other.count;
    this.#sum += other.#sum;
    this.#minimum = Math.min(this.#minimum, other.#minimum);
    this.#maximum = Math.max(this.#maximum, other.#maximum);
    for (const [value, count] of other.#values) this.#values.set(value, (this.#values.get(value) ?? 0) + count);
  }

  /** @throws Error naming the statistic when it is none of CloudWatch's that are known here. */
  get(statistic: string): number {
    switch (statistic) {
      case 'Average':
        return this.#sum / this.count;
      case 'Sum':
        return this.#sum;
      case 'Minimum':
        return this.#minimum;
      case 'Maximum':
        return this.#maximum;
      case 'SampleCount':
        return this.count;
      default:
        return this.#percentile(percentOf(statistic));
    }
  }

  /** The smallest value that at least so many percent of the values do not exceed. */
  #percentile(percent: number): number {
    const rank = Math.max(1, Math.ceil((percent / 100) * this.count));
    let seen = 0;
    for (const [value, count] of [...this.#values].toSorted(([a], [b]) => a - b)) {
      seen += count;
      // Rounding must not put a percentile outside of what was measured.
      if (seen >= rank) return Math.min(this.#maximum, Math.max(this.#minimum, value));
    }
    return this.#maximum;
  }
}

/** @throws Error naming the statistic when it is not known here; a widget or alarm is wrong even before it has data. */
export function checkStatistic(statistic: string): void {
  if (!PLAIN.some((plain) => plain === statistic)) percentOf(statistic);
}

function percentOf(statistic: string): number {
  const percent = Number(/^p(\d{1,2}(?:\.\d{1,10})?|100)$/.exec(statistic)?.[1]);
  if (Number.isNaN(percent)) {
    throw new Error(`Statistic ${JSON.stringify(statistic)}: known are ${PLAIN.join(', ')} and p0 to p100`);
  }
  return percent;
}
