import type { QueueBody } from '../contract/queue.ts';
import type { TenantBody } from '../contract/tenants.ts';
import { drainSeconds, expectedRate } from '../lib/domain/estimates.ts';
import type { QueueStats, TenantView } from '../lib/domain/outcomes.ts';
import type { Reading } from '../lib/telemetry/reading.ts';
import { waiting, type VisitBounds } from './waiting.ts';

const seconds = (ms: number) => Math.max(0, Math.round(ms)) / 1000;
const age = (sinceMs: number | null, nowMs: number) => (sinceMs === null ? null : seconds(nowMs - sinceMs));
const part = (fraction: number) => Math.min(1, Math.max(0, Math.round(fraction * 10_000) / 10_000));

/** What a subscription record says. */
export const said = (record: TenantView['record']): TenantBody['record'] =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));

/** Its entity tag, as HTTP writes one. */
export const etagHeader = ({ etag }: Pick<TenantView, 'etag'>) => ({ etag: `"${etag}"` });

/** A level that old tells nothing of now: its monitor has missed two readings. */
const FRESH_MS = 150_000;

/**
 * Max-min fair, as monitor last found it: a tenant with a backlog is entitled to its weight's worth of what others left, one
 * that waits for nothing or is held by something of its own to what it had. Without a reading, or with nobody contending at it,
 * its weight's part of those that wait now.
 */
function entitledShare(view: TenantView, realised: number | null, reading: Reading | undefined): number {
  const { rate, nowMs, weight } = view;
  const contends = view.ready > 0 && view.held.length === 0;
  if (!contends && realised !== null) return realised;
  const level = reading !== undefined && nowMs - reading.nowMs <= FRESH_MS ? reading.level : null;
  return part(contends && level !== null ? level * weight : rate.weightShare);
}

/** A tenant as the API shows it. `reading` is monitor's last. */
export function tenantBody(view: TenantView, bounds: VisitBounds, reading: Reading | undefined): TenantBody {
  const { rate, nowMs } = view;
  const realised = rate.queue === null || rate.queue <= 0 ? null : part((rate.tenant ?? 0) / rate.queue);
  const depth = view.ready + view.delayed;
  return {
    tenant: view.tenant,
    plan: view.plan,
    weight: view.weight,
    limits: {
      maxDepth: view.maxDepth,
      maxConcurrency: view.maxConcurrency,
      maxBytes: view.maxBytes,
      maxJobsPerSecond: view.maxJobsPerSecond,
      burst: view.maxJobsPerSecond === null ? null : view.burst,
    },
    record: said(view.record),
    paused: view.held.includes('paused'),
    depth,
    ready: view.ready,
    delayed: view.delayed,
    inFlight: view.inFlight,
    dead: view.dead,
    oldestAgeSeconds: age(view.oldestReadySinceMs, nowMs),
    share: {
      realised,
      entitled: entitledShare(view, realised, reading),
      windowSeconds: seconds(view.rateWindowMs),
    },
    estimatedDrainSeconds: drainSeconds(depth, expectedRate(rate)),
    waiting: waiting(view, bounds),
    served: view.served,
    done: view.done,
    failed: view.failed,
    enqueued: view.enqueued,
  };
}

/** The queue as the API shows it. */
export function queueBody(queue: string, stats: QueueStats): QueueBody {
  const depth = stats.ready + stats.delayed;
  return {
    queue,
    paused: stats.paused,
    capacity: stats.capacity,
    deployedCapacity: stats.deployedCapacity,
    visitsInFlight: stats.visitsInFlight,
    visitsUnopened: stats.visitsUnopened,
    waitingTenants: stats.waitingTenants,
    rotation: stats.rotation,
    depth,
    ready: stats.ready,
    delayed: stats.delayed,
    inFlight: stats.inFlight,
    dead: stats.dead,
    bytes: stats.bytes,
    oldestAgeSeconds: age(stats.oldestReadySinceMs, stats.nowMs),
    servedPerSecond: stats.ratePerSecond,
    estimatedDrainSeconds: drainSeconds(depth, stats.ratePerSecond),
    dispatcherAlive: stats.dispatcherAlive,
    totals: {
      enqueued: stats.enqueued,
      served: stats.served,
      done: stats.done,
      failed: stats.failed,
      died: stats.died,
      dropped: stats.dropped,
      late: stats.late,
    },
  };
}
