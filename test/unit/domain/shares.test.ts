import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TenantReading } from '../../../functions/lib/domain/outcomes.ts';
import { maxMin, sharesOf, starvedAmong } from '../../../functions/lib/domain/shares.ts';

const NOW = 10_000_000;
const MINUTE = 60_000;

/** A tenant that has been waiting and served throughout the window. */
const reading = (tenant: string, given: Partial<TenantReading> = {}): TenantReading => ({
  tenant,
  plan: 'free',
  weight: 1,
  ready: 10_000,
  delayed: 0,
  inFlight: 0,
  held: [],
  oldestReadySinceMs: NOW - 2 * MINUTE,
  enqueued: 20_000,
  served: 10_000,
  ratePerSecond: 1,
  rateSpanMs: MINUTE,
  ...given,
});

const queueAt = (ratePerSecond: number, rateSpanMs = MINUTE) => ({ nowMs: NOW, ratePerSecond, rateSpanMs });

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

const claimants = fc.array(
  fc.record({
    weight: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
    wish: fc.double({ min: 0, max: 1e6, noNaN: true }),
  }),
  { minLength: 1, maxLength: 30 },
);
const total = fc.double({ min: 0, max: 1e6, noNaN: true });
const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

describe('max-min shares', () => {
  it('add up to the total, or to the wishes where those are less', () => {
    fc.assert(
      fc.property(claimants, total, (given, all) => {
        const wishes = sum(given.map(({ wish }) => wish));
        expect(near(sum(maxMin(all, given)), Math.min(all, wishes))).toBe(true);
      }),
    );
  });

  it('give nobody more than its wish, and nobody less than a level at which others still get more', () => {
    fc.assert(
      fc.property(claimants, total, (given, all) => {
        const shares = maxMin(all, given);
        const levels = shares.map((share, i) => share / (given[i]?.weight ?? 1));
        const highest = Math.max(...levels);
        for (const [i, { wish }] of given.entries()) {
          expect(shares[i]).toBeLessThanOrEqual(wish);
          const isMet = (shares[i] ?? 0) >= wish * (1 - 1e-9);
          expect(isMet || near(levels[i] ?? 0, highest)).toBe(true);
        }
      }),
    );
  });

  it('are the same in any order', () => {
    fc.assert(
      fc.property(claimants, total, (given, all) => {
        const backwards = maxMin(all, given.toReversed()).toReversed();
        for (const [i, share] of maxMin(all, given).entries()) expect(near(share, backwards[i] ?? -1)).toBe(true);
      }),
    );
  });

  it.each([
    { of: '8:3:1', wishes: [1e9, 1e9, 1e9], weights: [8, 3, 1], shares: [800, 300, 100] },
    { of: 'one that wants little', wishes: [100, 1e9, 1e9], weights: [8, 3, 1], shares: [100, 825, 275] },
    { of: 'nothing left to want', wishes: [100, 50, 0], weights: [8, 3, 1], shares: [100, 50, 0] },
  ])('of 1,200 with $of', ({ wishes, weights, shares }) => {
    const given = wishes.map((wish, i) => ({ wish, weight: weights[i] ?? 1 }));
    expect(maxMin(1_200, given)).toEqual(shares);
  });
});

describe('the shares of a queue', () => {
  it('tell what each contender had and what its weight entitles it to', () => {
    const tenants = [
      reading('big', { weight: 8, ratePerSecond: 60 }),
      reading('mid', { weight: 3, ratePerSecond: 40 }),
      reading('small', { weight: 1, ratePerSecond: 20 }),
    ];
    const shares = sharesOf(queueAt(120), tenants);
    expect(shares?.tenants.get('big')).toEqual({ realised: 60 / 120, entitled: 8 / 12 });
    expect(shares?.tenants.get('small')).toEqual({ realised: 20 / 120, entitled: 1 / 12 });
    expect(shares?.level).toBeCloseTo(1 / 12, 12);
    expect(shares?.fairnessError).toBeCloseTo(8 / 12 - 60 / 120, 12);
  });

  it.each<[string, Partial<TenantReading>]>([
    ['has nothing waiting', { ready: 0, oldestReadySinceMs: null }],
    ['is paused', { held: ['paused'] }],
    ['is at its own cap', { held: ['concurrency'] }],
    ['has come just now', { rateSpanMs: 10_000, oldestReadySinceMs: NOW - 10_000, ratePerSecond: 30 }],
  ])('leave what it had to a tenant that %s, and the rest to the others by weight', (_why, given) => {
    const tenants = [
      reading('one', { weight: 8, ratePerSecond: 10, ...given }),
      reading('mid', { weight: 3, ratePerSecond: 30 }),
      reading('small', { weight: 1, ratePerSecond: 10 }),
    ];
    const shares = sharesOf(queueAt(50), tenants);
    expect(shares?.tenants.get('one')?.entitled).toBeCloseTo(10 / 50, 12);
    expect(shares?.tenants.get('mid')?.entitled).toBeCloseTo(30 / 50, 12);
    expect(shares?.fairnessError).toBeCloseTo(0, 12);
  });

  it('entitle nobody to more than it had and has waiting', () => {
    const few = reading('few', { weight: 100, ready: 60, ratePerSecond: 1 });
    const shares = sharesOf(queueAt(100), [few, reading('many', { ratePerSecond: 99 })]);
    expect(shares?.tenants.get('few')).toEqual({ realised: 1 / 100, entitled: 2 / 100 });
    // What it does not want is worth more to the other, by weight.
    expect(shares?.level).toBeCloseTo(98 / 100, 12);
  });

  it('count a starved tenant by what it should have had', () => {
    const starved = reading('starved', { ratePerSecond: null, rateSpanMs: 0 });
    const shares = sharesOf(queueAt(100), [starved, reading('other', { ratePerSecond: 100 })]);
    expect(shares).toMatchObject({ fairnessError: 0.5 });
    expect(shares?.tenants.get('starved')).toEqual({ realised: 0, entitled: 0.5 });
  });

  it('leave to those that have drained what they had', () => {
    const shares = sharesOf(queueAt(100), [reading('alone', { ratePerSecond: 40 })]);
    expect(shares?.tenants.get('alone')).toEqual({ realised: 0.4, entitled: 0.4 });
  });

  it('are of the time there was, in the first seconds', () => {
    const started = { rateSpanMs: 2_000, oldestReadySinceMs: NOW - 2_100 };
    const tenants = [
      reading('a', { ...started, weight: 3, ratePerSecond: 75 }),
      reading('b', { ...started, ratePerSecond: 25 }),
    ];
    expect(sharesOf(queueAt(100, 2_000), tenants)).toMatchObject({ fairnessError: 0 });
    expect(sharesOf(queueAt(100, 2_000), tenants)?.tenants.get('a')).toEqual({ realised: 0.75, entitled: 0.75 });
  });

  it('are none when nothing was served lately', () => {
    expect(sharesOf({ nowMs: NOW, ratePerSecond: null, rateSpanMs: 0 }, [reading('a')])).toBeUndefined();
  });
});

describe('a tenant is starved', () => {
  const waiting = reading('t', { ready: 5, oldestReadySinceMs: NOW - 901_000, ratePerSecond: null, rateSpanMs: 0 });
  const others = [reading('large', { oldestReadySinceMs: NOW - 9_000_000 })];
  const starved = (given: Partial<TenantReading>, among = others, nowMs = NOW) =>
    starvedAmong([{ ...waiting, ...given }, ...among], nowMs).map(({ tenant }) => tenant);

  it('when few jobs of it have been ready for more than 15 minutes', () => {
    expect(starved({})).toEqual(['t']);
    expect(starved({}, others, NOW - 2_000)).toEqual([]);
  });

  it.each<[string, Partial<TenantReading>]>([
    ['its backlog is large', { ready: 60, delayed: 40 }],
    ['it is paused', { held: ['paused'] }],
    ['it is at its own cap, or has one of 0', { held: ['concurrency'] }],
    ['it is rate-limited', { held: ['rate'] }],
    ['it is backing off', { held: ['backoff'] }],
    ['nothing is ready', { oldestReadySinceMs: null, ready: 0, delayed: 5 }],
  ])('but not when %s', (_why, given) => {
    expect(starved(given)).toEqual([]);
  });

  it('but not while it alone has anything to serve, and is served', () => {
    const held = [reading('paused', { held: ['paused'] })];
    expect(starved({ inFlight: 3 }, held)).toEqual([]);
    expect(starved({ ratePerSecond: 0.1, rateSpanMs: MINUTE }, [])).toEqual([]);
    expect(starved({}, held)).toEqual(['t']);
    expect(starved({ inFlight: 3 })).toEqual(['t']);
  });
});
