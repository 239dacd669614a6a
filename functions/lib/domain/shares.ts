import type { Survey, TenantReading } from './outcomes.ts';

/** Who shares something: how much each would take at most, and the weight by which the rest is shared. */
export interface Claimant {
  readonly weight: number;
  readonly wish: number;
}

/**
 * Max-min fair shares of `total` by weight (progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2): the water
 * rises at each claimant by its weight until its wish is met, and what that one does not want rises at the others. In the
 * order given. They add up to `total`, or to the wishes where those are less.
 */
export function maxMin(total: number, claimants: readonly Claimant[]): number[] {
  const given = claimants.map(() => 0);
  const byLevel = claimants
    .map(({ weight, wish }, index) => ({ index, weight, wish }))
    .toSorted((a, b) => a.wish / a.weight - b.wish / b.weight || a.index - b.index);
  // Added from the far end, since taking weights off a sum one by one would leave rounding errors for the last.
  const weightsFrom = byLevel.map(() => 0);
  byLevel.reduceRight((sum, { weight }, place) => (weightsFrom[place] = sum + weight), 0);
  let left = total;
  for (const [place, { index, weight, wish }] of byLevel.entries()) {
    const share = Math.max(0, Math.min(wish, (left * weight) / (weightsFrom[place] ?? weight)));
    given[index] = share;
    left -= share;
  }
  return given;
}

/** Parts of all service, 0 to 1. */
interface Share {
  readonly realised: number;
  readonly entitled: number;
}

export interface Shares {
  /** Of the tenants with waiting jobs; whoever else was served is in the rest. */
  readonly tenants: ReadonlyMap<string, Share>;
  /** Entitled share for each unit of weight of a tenant that wants no less; null when nobody contended. */
  readonly level: number | null;
  /** Largest |realised − entitled| among the tenants that contended. */
  readonly fairnessError: number;
}

/** A tenant that waits for less than this, or half the window if that is less, has no share to expect of the window yet. */
const SETTLED_MS = 30_000;

/**
 * Realised and entitled shares over the last one to two minutes, by jobs. Entitled is max-min fair: those that contended
 * share by weight what all others left them; whoever was held by something of its own, has nothing waiting or has just come
 * is entitled to what it had. Undefined when nothing was served lately.
 */
export function sharesOf(
  queue: Pick<Survey, 'nowMs' | 'ratePerSecond' | 'rateSpanMs'>,
  readings: readonly TenantReading[],
): Shares | undefined {
  if (queue.ratePerSecond === null) return undefined;
  const settledMs = Math.min(SETTLED_MS, queue.rateSpanMs / 2);
  const each = readings.map((reading) => {
    // A job or two in a reading's first seconds would look like a high rate.
    const had = ((reading.ratePerSecond ?? 0) * reading.rateSpanMs) / Math.max(reading.rateSpanMs, settledMs, 1);
    const waitingMs = reading.oldestReadySinceMs === null ? 0 : queue.nowMs - reading.oldestReadySinceMs;
    const contends = contendsNow(reading) && Math.max(waitingMs, reading.rateSpanMs) >= settledMs;
    const wish = contends ? had + (reading.ready * 1000) / queue.rateSpanMs : had;
    return { tenant: reading.tenant, weight: reading.weight, had, contends, wish };
  });
  const sum = each.reduce((total, { had }) => total + had, 0);
  // Readings are not of the very same span: together they can come to a little more than the queue's own.
  const total = Math.max(queue.ratePerSecond, sum);
  const contenders = each.filter(({ contends }) => contends);
  const pool = contenders.reduce((had, one) => had + one.had, 0);
  const levels = maxMin(pool, contenders);
  const entitled = new Map(contenders.map(({ tenant }, index) => [tenant, levels[index] ?? 0]));
  const tenants = new Map(
    each.map(({ tenant, had }) => [tenant, { realised: had / total, entitled: (entitled.get(tenant) ?? had) / total }]),
  );
  const perWeight = contenders.map(({ weight }, index) => (levels[index] ?? 0) / weight / total);
  const level = perWeight.length === 0 ? null : perWeight.reduce((most, one) => Math.max(most, one));
  const errors = contenders.map(({ tenant, had }) => Math.abs(had - (entitled.get(tenant) ?? had)) / total);
  return { tenants, level, fairnessError: errors.reduce((most, error) => Math.max(most, error), 0) };
}

/** A backlog that is larger may be old without anybody being to blame but its owner. */
const SMALL_BACKLOG = 100;
const STARVED_MS = 900_000;

const contendsNow = ({ ready, held }: TenantReading) => ready > 0 && held.length === 0;

/**
 * The tenants with a small backlog that has been ready for too long, though nothing of their own holds them. Not one that
 * is served and has nobody beside it: all service is its, more than its weight would give it.
 *
 * @param readings of all tenants with waiting jobs
 */
export function starvedAmong(readings: readonly TenantReading[], nowMs: number): TenantReading[] {
  const contenders = readings.filter(contendsNow);
  return contenders.filter(({ ready, delayed, oldestReadySinceMs, inFlight, ratePerSecond }) => {
    const isServedAlone = contenders.length === 1 && (inFlight > 0 || ratePerSecond !== null);
    const isOld = oldestReadySinceMs !== null && nowMs - oldestReadySinceMs > STARVED_MS;
    return ready + delayed < SMALL_BACKLOG && isOld && !isServedAlone;
  });
}
