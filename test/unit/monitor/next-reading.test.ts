import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueStats, TenantReading } from '../../../functions/lib/domain/outcomes.ts';
import { parseReading, type Reading } from '../../../functions/lib/telemetry/reading.ts';
import { nextReading } from '../../../functions/monitor/next-reading.ts';
import { openMetrics } from '../../../functions/tenants/open-metrics.ts';
import { countersOf } from '../../support/open-metrics.ts';

const MINUTE = 60_000;

const reading = (tenant: string, given: Partial<TenantReading> = {}): TenantReading => ({
  tenant,
  plan: 'free',
  weight: 1,
  ready: 10,
  delayed: 0,
  inFlight: 0,
  held: [],
  oldestReadySinceMs: 0,
  enqueued: 100,
  served: 0,
  ratePerSecond: null,
  rateSpanMs: 0,
  ...given,
});

const stats = (given: Partial<QueueStats> = {}): QueueStats => ({
  nowMs: MINUTE,
  paused: false,
  capacity: 40,
  deployedCapacity: 40,
  visitsInFlight: 3,
  visitsUnopened: 0,
  rotation: 2,
  waitingTenants: 2,
  ready: 100,
  delayed: 0,
  inFlight: 3,
  dead: 1,
  bytes: 1_000,
  oldestReadySinceMs: 0,
  dispatcherAlive: true,
  enqueued: 1_000,
  served: 500,
  done: 490,
  failed: 2,
  died: 1,
  dropped: 0,
  late: 0,
  ratePerSecond: null,
  virtualClock: 0,
  ...given,
});

const silent = { nowMs: MINUTE, ratePerSecond: null, rateSpanMs: 0 };
const sweep = { cursor: '0', repaired: 0 };

/** A tenant of which so much was served, in a queue of which so much was. */
const lookAt = (served: number, all: number) => ({
  stats: stats({ served: all }),
  queue: silent,
  tenants: [reading('a', { served })],
  sweep,
});

describe('a reading', () => {
  it('tells differences once there is a reading to differ from, and none of what was given back', () => {
    const first = nextReading({ stats: stats(), queue: silent, tenants: [], sweep }, undefined);
    expect(first.since).toBeUndefined();
    const second = nextReading({ stats: stats({ served: 510, done: 495 }), queue: silent, tenants: [], sweep }, first);
    expect(second.since).toMatchObject({ served: 10, done: 5, failed: 0 });
    const third = nextReading({ stats: stats({ served: 507 }), queue: silent, tenants: [], sweep }, second);
    expect(third.since).toMatchObject({ served: 0 });
    const fourth = nextReading({ stats: stats({ served: 511 }), queue: silent, tenants: [], sweep }, third);
    expect(fourth.since).toMatchObject({ served: 1 });
  });

  it('counts what is served of a tenant from the reading on in which it gets a label', () => {
    const first = nextReading(lookAt(300, 500), undefined);
    expect(first).toMatchObject({ tenants: [{ served: 0, servedSince: 0 }], other: { served: 500 } });
    const second = nextReading(lookAt(320, 525), first);
    expect(second).toMatchObject({
      tenants: [{ served: 20, servedSince: 20 }],
      other: { served: 505, servedSince: 5 },
    });
  });

  it('does not count again what a visit gave back', () => {
    const [first, second] = [lookAt(300, 500), lookAt(290, 490)];
    const given = nextReading(second, nextReading(first, undefined));
    expect(given).toMatchObject({ tenants: [{ served: 0, servedSince: 0 }], other: { servedSince: 0 } });
    const again = nextReading(lookAt(302, 502), given);
    expect(again).toMatchObject({ tenants: [{ served: 2, servedSince: 2 }], other: { servedSince: 0 } });
  });

  it('counts on where a tenant was removed and has come again', () => {
    const before = nextReading(lookAt(300, 500), undefined);
    const look = lookAt(20, 520);
    const again = nextReading({ ...look, tenants: [reading('a', { served: 20, enqueued: 30 })] }, before);
    expect(again).toMatchObject({ tenants: [{ served: 20, servedSince: 20 }], other: { servedSince: 0 } });
  });

  it('leaves to the others what no tenant of a label has', () => {
    const tenants = [reading('a', { ready: 60, inFlight: 2 }), reading('b', { ready: 30 })];
    const { other, queue } = nextReading({ stats: stats(), queue: silent, tenants, sweep }, undefined);
    expect(other).toMatchObject({ depth: 10, inFlight: 1, oldestAgeSeconds: 0, realisedShare: null });
    expect(queue).toMatchObject({ depth: 100, oldestAge: 60, servableTenants: 2, capacityUsed: 3 });
  });

  it('tells of no starved tenant while the whole queue is paused', () => {
    const tenants = [reading('a'), reading('b', { held: ['paused'] })];
    for (const paused of [false, true]) {
      const look = { stats: stats({ paused, nowMs: 901_001 }), queue: silent, tenants, sweep };
      expect(nextReading(look, undefined).queue.starvedTenants).toBe(paused ? 0 : 1);
    }
  });

  it('is read again as it was kept, and not at all in another shape', () => {
    const tenants = [reading('né:1|*%🐢')];
    const made = nextReading({ stats: stats(), queue: silent, tenants, sweep }, undefined);
    expect(parseReading(JSON.stringify(made))).toEqual(made);
    expect(parseReading(null)).toBeUndefined();
    expect(parseReading(JSON.stringify({ ...made, shape: 2 }))).toBeUndefined();
  });
});

describe('the counters', () => {
  const step = fc.record({
    passMs: fc.integer({ min: 1_000, max: 20 * MINUTE }),
    /** By tenant: served since, given back (negative), or removed and come again. */
    served: fc.array(fc.tuple(fc.nat({ max: 59 }), fc.integer({ min: -5, max: 50 })), { maxLength: 80 }),
    removed: fc.array(fc.nat({ max: 59 }), { maxLength: 2 }),
    depths: fc.array(fc.nat({ max: 1_000 }), { minLength: 60, maxLength: 60 }),
  });

  it('never fall and miss nothing, however tenants enter and leave the top, give back and are removed', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 25 }), (steps) => {
        const served = Array<number>(60).fill(0);
        const enqueued = Array<number>(60).fill(1_000);
        let before: Reading | undefined;
        let all = 0;
        let nowMs = 0;
        const seen = new Map<string, { value: number; atMs: number }>();
        for (const { passMs, served: changes, removed, depths } of steps) {
          nowMs += passMs;
          for (const index of removed) [served[index], enqueued[index]] = [0, 0];
          for (const [index, count] of changes) {
            const change = Math.max(count, -(served[index] ?? 0));
            served[index] = (served[index] ?? 0) + change;
            all += change;
          }
          const seated = new Set(before?.tenants.map(({ tenant }) => tenant));
          const tenants = depths.flatMap((ready, index) => {
            const tenant = `t${index}`;
            const given = { ready, served: served[index] ?? 0, enqueued: enqueued[index] ?? 0 };
            return ready > 0 || seated.has(tenant) ? [reading(tenant, given)] : [];
          });
          const look = { stats: stats({ nowMs, served: all }), queue: { ...silent, nowMs }, tenants, sweep };
          const now = nextReading(look, before);
          for (const [counter, value] of countersOf(openMetrics(now))) {
            const last = seen.get(counter);
            // Also after an absence, for longer than any rate looks back.
            const least = last !== undefined && nowMs - last.atMs < 60 * MINUTE ? last.value : 0;
            expect(value).toBeGreaterThanOrEqual(least);
            seen.set(counter, { value, atMs: nowMs });
          }
          for (const { servedSince } of [...now.tenants, now.other]) expect(servedSince).toBeGreaterThanOrEqual(0);
          before = now;
        }
        expect((before?.servedApart ?? 0) + (before?.other.served ?? 0)).toBeGreaterThanOrEqual(all);
      }),
      { numRuns: 200 },
    );
  });
});
