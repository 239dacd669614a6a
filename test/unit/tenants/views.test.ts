import { describe, expect, it } from 'vitest';
import { getQueue } from '../../../functions/contract/queue.ts';
import { getTenant } from '../../../functions/contract/tenants.ts';
import type { QueueStats, TenantView } from '../../../functions/lib/domain/outcomes.ts';
import type { Reading } from '../../../functions/lib/telemetry/reading.ts';
import { nextReading } from '../../../functions/monitor/next-reading.ts';
import { queueBody, tenantBody } from '../../../functions/tenants/views.ts';

const bounds = { quantum: 4, visitConcurrency: 1, maxVisitMs: 5_000 };

const noRecord = {
  plan: null,
  weight: null,
  maxDepth: null,
  maxConcurrency: null,
  maxBytes: null,
  maxJobsPerSecond: null,
  burst: null,
};

function view(given: Partial<TenantView> = {}): TenantView {
  return {
    tenant: 'acme',
    plan: 'growth',
    record: { ...noRecord, plan: 'growth', maxDepth: 0 },
    etag: '0123456789abcdef',
    claimPlan: null,
    weight: 3,
    maxDepth: 0,
    maxConcurrency: 50,
    maxBytes: null,
    maxJobsPerSecond: null,
    burst: 1,
    ready: 90,
    delayed: 10,
    inFlight: 5,
    lanes: 1,
    dead: 2,
    bytes: 1_000,
    held: [],
    heldUntilMs: null,
    limitedUntilMs: null,
    oldestReadySinceMs: 1_000_000,
    dueMs: null,
    queuePaused: false,
    freeSlots: 1,
    dispatcherAlive: true,
    visitsAhead: 6,
    rate: { tenant: 50, queue: 120, weightShare: 0.375 },
    rateWindowMs: 90_500,
    served: 7,
    done: 4,
    failed: 1,
    enqueued: 110,
    p95Ms: 50,
    meanMs: 20,
    nowMs: 1_012_345,
    ...given,
  };
}

function stats(given: Partial<QueueStats> = {}): QueueStats {
  return {
    nowMs: 1_012_345,
    paused: false,
    capacity: 40,
    deployedCapacity: 40,
    visitsInFlight: 3,
    visitsUnopened: 1,
    rotation: 2,
    waitingTenants: 3,
    ready: 90,
    delayed: 10,
    inFlight: 5,
    dead: 2,
    bytes: 1_000,
    oldestReadySinceMs: 1_000_000,
    dispatcherAlive: true,
    enqueued: 110,
    served: 7,
    done: 4,
    failed: 1,
    died: 1,
    dropped: 0,
    late: 0,
    ratePerSecond: 50,
    virtualClock: 12.5,
    ...given,
  };
}

/** A minute ago nobody but those that contended was served, and a weight of 1 was worth a fifth of it. */
const lastReading: Reading = {
  ...nextReading(
    {
      stats: stats(),
      queue: { nowMs: 1_012_345, ratePerSecond: null, rateSpanMs: 0 },
      tenants: [],
      sweep: { cursor: '0', repaired: 0 },
    },
    undefined,
  ),
  level: 0.2,
};

describe('a tenant', () => {
  it('is shown as the contract says', () => {
    const body = tenantBody(view(), bounds, undefined);
    expect(getTenant.responses[200]?.schema.safeParse(body).error?.issues).toBeUndefined();
    expect(body).toMatchObject({
      depth: 100,
      oldestAgeSeconds: 12.345,
      limits: { maxDepth: 0, maxConcurrency: 50 },
      // A cap of 0 is one, and not none.
      record: { plan: 'growth', maxDepth: 0 },
      share: { realised: 0.4167, entitled: 0.375, windowSeconds: 90.5 },
      estimatedDrainSeconds: 2,
      // 6 visits of 12 jobs at 120 jobs a second
      waiting: { because: 'turn', visitsAhead: 6, estimatedStartSeconds: 0.6 },
    });
  });

  it.each<[string, Partial<TenantView>, Partial<Reading> | undefined, number]>([
    ['its weight’s worth of what others left', {}, {}, 0.6],
    ['no more than everything', { weight: 8 }, {}, 1],
    ['what it had while nothing waits', { ready: 0 }, {}, 0.4167],
    ['what it had while something of its own holds it', { held: ['concurrency'] }, {}, 0.4167],
    ['its part by weight where nobody contended', {}, { level: null }, 0.375],
    ['its part by weight when monitor has been silent for long', {}, { nowMs: 800_000 }, 0.375],
    ['its part by weight before the first reading', {}, undefined, 0.375],
  ])('is entitled to %s', (_what, given, reading, entitled) => {
    const last = reading && { ...lastReading, ...reading };
    expect(tenantBody(view(given), bounds, last).share.entitled).toBe(entitled);
  });

  it('that was never seen is shown as the contract says', () => {
    const body = tenantBody(
      view({
        record: noRecord,
        ready: 0,
        delayed: 0,
        oldestReadySinceMs: null,
        visitsAhead: null,
        rate: { tenant: null, queue: null, weightShare: 0 },
        p95Ms: null,
      }),
      bounds,
      undefined,
    );
    expect(getTenant.responses[200]?.schema.safeParse(body).error?.issues).toBeUndefined();
    expect(body).toMatchObject({ record: {}, oldestAgeSeconds: null, waiting: null, estimatedDrainSeconds: 0 });
    expect(body.share).toEqual({ realised: null, entitled: 0, windowSeconds: 90.5 });
  });

  it.each<[string, Partial<TenantView>, unknown]>([
    ['paused', { held: ['concurrency', 'paused'] }, { because: 'paused', estimatedStartSeconds: null }],
    ['at its lanes', { held: ['concurrency'] }, { because: 'concurrency', estimatedStartSeconds: null }],
    [
      'backing off',
      { held: ['backoff'], heldUntilMs: 1_014_845, visitsAhead: null },
      { because: 'backoff', visitsAhead: null, estimatedStartSeconds: 2.5 },
    ],
    [
      'without a job that is due',
      { ready: 0, visitsAhead: null, dueMs: 1_013_345 },
      { because: 'delayed', estimatedStartSeconds: 1 },
    ],
    ['next, without a free slot', { visitsAhead: 0, freeSlots: 0 }, { because: 'capacity' }],
    ['without a dispatcher', { dispatcherAlive: false }, { because: 'dispatcher', estimatedStartSeconds: null }],
    ['in a paused queue', { queuePaused: true }, { because: 'queue_paused' }],
    [
      'next',
      { visitsAhead: 0, rate: { tenant: null, queue: null, weightShare: 1 } },
      { because: 'turn', estimatedStartSeconds: 0 },
    ],
    [
      'waiting while nobody is served',
      { rate: { tenant: null, queue: null, weightShare: 1 } },
      { because: 'turn', visitsAhead: 6, estimatedStartSeconds: null },
    ],
    [
      'behind slow jobs, one a visit',
      { p95Ms: 30_000, rate: { tenant: 1, queue: 2, weightShare: 1 } },
      { because: 'turn', estimatedStartSeconds: 3 },
    ],
  ])('is told why it waits: %s', (_name, given, waiting) => {
    const body = tenantBody(view(given), bounds, undefined);
    expect(body.waiting).toMatchObject(Object(waiting));
    expect(getTenant.responses[200]?.schema.safeParse(body).error?.issues).toBeUndefined();
  });
});

describe('the queue', () => {
  it('is shown as the contract says', () => {
    const body = queueBody('default', stats());
    expect(getQueue.responses[200]?.schema.safeParse(body).error?.issues).toBeUndefined();
    expect(body).toMatchObject({ depth: 100, oldestAgeSeconds: 12.345, estimatedDrainSeconds: 2 });
  });
});
