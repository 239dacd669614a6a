import type { QueueStats, Survey, TenantReading } from '../lib/domain/outcomes.ts';
import { type Shares, sharesOf, starvedAmong } from '../lib/domain/shares.ts';
import { seat, topOf } from '../lib/domain/top.ts';
import { TOP_TENANTS } from '../lib/telemetry/metric-names.ts';
import type { Counts, Reading, TenantTold } from '../lib/telemetry/reading.ts';

/** What a look at the queue found. */
export interface Look {
  readonly stats: QueueStats;
  readonly queue: Pick<Survey, 'nowMs' | 'ratePerSecond' | 'rateSpanMs'>;
  /** Every tenant with waiting jobs, and those that had a label at the reading before. */
  readonly tenants: readonly TenantReading[];
  /** Where the sweep goes on, and the differences that all sweeps have found so far. */
  readonly sweep: { readonly cursor: string; readonly repaired: number };
}

const seconds = (ms: number) => Math.max(0, Math.round(ms)) / 1000;
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const rest = (total: number, parts: readonly (number | null)[]) =>
  Math.max(0, total - sum(parts.map((part) => part ?? 0)));

const ageOf = (sinceMs: number | null, nowMs: number) => (sinceMs === null ? 0 : seconds(nowMs - sinceMs));

/** Counts since the queue was made. What a visit gives back lowers `served` in Redis, but never what was told. */
function countsOf(
  { enqueued, served, done, failed, died, dropped, late }: QueueStats,
  before: Counts | undefined,
): Counts {
  return { enqueued, served: Math.max(served, before?.served ?? 0), done, failed, died, dropped, late };
}

const countsSince = (counts: Counts, before: Counts): Counts => ({
  enqueued: counts.enqueued - before.enqueued,
  served: counts.served - before.served,
  done: counts.done - before.done,
  failed: counts.failed - before.failed,
  died: counts.died - before.died,
  dropped: before.dropped === undefined ? 0 : (counts.dropped ?? 0) - before.dropped,
  late: counts.late - before.late,
});

/** How much of the tenant was served since, and its counts from which the next reading goes on. */
function servedSince({ served, enqueued }: TenantReading, own: TenantTold['own'] | undefined) {
  if (own === undefined) return { since: 0, own: { served, enqueued } };
  // It was removed meanwhile and has come anew.
  if (enqueued < own.enqueued) return { since: served, own: { served, enqueued } };
  return { since: Math.max(0, served - own.served), own: { served: Math.max(served, own.served), enqueued } };
}

function tell(
  reading: TenantReading,
  lastInMs: number,
  before: Reading | undefined,
  shares: Shares | undefined,
  nowMs: number,
): TenantTold {
  const { tenant, plan } = reading;
  const told = before?.tenants.find((one) => one.tenant === tenant);
  const left = before?.left.find((one) => one.tenant === tenant);
  const { since, own } = servedSince(reading, told?.own);
  const share = shares?.tenants.get(tenant);
  return {
    tenant,
    plan,
    // One that comes back goes on from where it left, and what it was served meanwhile stays with the others.
    served: (told?.served ?? left?.served ?? 0) + since,
    servedSince: since,
    depth: reading.ready + reading.delayed,
    inFlight: reading.inFlight,
    oldestAgeSeconds: ageOf(reading.oldestReadySinceMs, nowMs),
    realisedShare: share?.realised ?? null,
    entitledShare: share?.entitled ?? null,
    own,
    lastInMs,
  };
}

/** What follows from a look at the queue and the reading before. */
export function nextReading(look: Look, before: Reading | undefined): Reading {
  const { stats, queue, tenants, sweep } = look;
  const { nowMs } = stats;
  const shares = sharesOf(queue, tenants);
  const top = topOf(
    tenants.filter(({ ready, delayed }) => ready + delayed > 0),
    TOP_TENANTS,
    [({ ready, delayed }) => ready + delayed, ({ oldestReadySinceMs: since }) => (since === null ? null : -since)],
  );
  const seating = seat({ seats: before?.tenants ?? [], left: before?.left ?? [] }, top, TOP_TENANTS, nowMs);
  const found = new Map(tenants.map((reading) => [reading.tenant, reading]));
  const told = seating.seats.flatMap(({ tenant, lastInMs }) => {
    const reading = found.get(tenant);
    return reading === undefined ? [] : [tell(reading, lastInMs, before, shares, nowMs)];
  });
  const seated = new Set(told.map(({ tenant }) => tenant));
  const servedBefore = new Map([...(before?.left ?? []), ...(before?.tenants ?? [])].map((one) => [one.tenant, one]));
  const counts = countsOf(stats, before?.counts);
  const servedApart = (before?.servedApart ?? 0) + sum(told.map((one) => one.servedSince));
  const served = Math.max(before?.other.served ?? 0, stats.served - servedApart);
  const others = tenants.filter(({ tenant }) => !seated.has(tenant));
  const depth = stats.ready + stats.delayed;
  return {
    shape: 1,
    nowMs,
    queue: {
      depth,
      bytes: stats.bytes,
      inFlight: stats.inFlight,
      dead: stats.dead,
      oldestAge: ageOf(stats.oldestReadySinceMs, nowMs),
      activeTenants: stats.waitingTenants,
      servableTenants: stats.paused ? 0 : stats.rotation,
      // Whoever has paused the whole queue knows that everybody waits.
      starvedTenants: stats.paused ? 0 : starvedAmong(tenants, nowMs).length,
      capacity: stats.capacity,
      capacityUsed: stats.visitsInFlight,
      dispatcherAlive: stats.dispatcherAlive ? 1 : 0,
      fairnessError: shares?.fairnessError ?? 0,
    },
    level: shares?.level ?? null,
    counts,
    ...(before !== undefined && { since: countsSince(counts, before.counts) }),
    tenants: told,
    left: seating.left.map(({ tenant, leftMs }) => ({
      tenant,
      leftMs,
      served: servedBefore.get(tenant)?.served ?? 0,
    })),
    other: {
      served,
      servedSince: before === undefined ? 0 : served - before.other.served,
      depth: rest(
        depth,
        told.map((one) => one.depth),
      ),
      inFlight: rest(
        stats.inFlight,
        told.map((one) => one.inFlight),
      ),
      oldestAgeSeconds: Math.max(0, ...others.map((one) => ageOf(one.oldestReadySinceMs, nowMs))),
      realisedShare:
        shares === undefined
          ? null
          : rest(
              1,
              told.map((one) => one.realisedShare),
            ),
      entitledShare:
        shares === undefined
          ? null
          : rest(
              1,
              told.map((one) => one.entitledShare),
            ),
    },
    servedApart,
    sweep: {
      cursor: sweep.cursor,
      differences: sweep.repaired,
      // Of a Redis that was emptied the count begins again.
      differencesSince: Math.max(0, sweep.repaired - (before?.sweep.differences ?? 0)),
    },
  };
}
