import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Seating, seat, topOf } from '../../../functions/lib/domain/top.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const nobody: Seating = { seats: [], left: [] };
const named = (seating: Seating) => seating.seats.map(({ tenant }) => tenant).toSorted();

describe('labels', () => {
  it('go to the top, in its order, as long as there are any', () => {
    expect(named(seat(nobody, ['c', 'a', 'b'], 2, 0))).toEqual(['a', 'c']);
  });

  it('stay for an hour after their tenant was last among the top, and no longer', () => {
    const first = seat(nobody, ['a', 'b'], 3, 0);
    const second = seat(first, ['b'], 3, HOUR - 1);
    expect(named(second)).toEqual(['a', 'b']);
    expect(named(seat(second, ['b'], 3, HOUR))).toEqual(['b']);
  });

  it('go to whoever is among the top now, from whoever has been out of it for longest', () => {
    let seating = seat(nobody, ['a', 'b', 'c'], 3, 0);
    seating = seat(seating, ['a', 'c'], 3, MINUTE);
    seating = seat(seating, ['a'], 3, 2 * MINUTE);
    seating = seat(seating, ['a', 'd'], 3, 3 * MINUTE);
    expect(named(seating)).toEqual(['a', 'c', 'd']);
    expect(seating.left).toEqual([{ tenant: 'b', leftMs: 3 * MINUTE }]);
    expect(named(seat(seating, ['b', 'd'], 3, 4 * MINUTE))).toEqual(['a', 'b', 'd']);
  });

  const readings = fc.array(
    fc.record({
      passMs: fc.integer({ min: 1, max: 10 * MINUTE }),
      top: fc.uniqueArray(fc.integer({ min: 0, max: 500 }).map(String), { maxLength: 20 }),
    }),
    { maxLength: 100 },
  );

  it('are never more than there may be at once, nor more than 60 different ones within an hour, however the top churns', () => {
    fc.assert(
      fc.property(readings, (given) => {
        let seating = nobody;
        let nowMs = 0;
        const had: { tenant: string; atMs: number }[] = [];
        for (const { passMs, top } of given) {
          nowMs += passMs;
          seating = seat(seating, top, 20, nowMs);
          expect(seating.seats.length).toBeLessThanOrEqual(20);
          for (const { tenant } of seating.seats) had.push({ tenant, atMs: nowMs });
          const lately = new Set(had.filter(({ atMs }) => nowMs - atMs < HOUR).map(({ tenant }) => tenant));
          expect(lately.size).toBeLessThanOrEqual(60);
        }
      }),
    );
  });

  it('are those of the top, while the top does not churn more than that', () => {
    const top = Array.from({ length: 20 }, (_, i) => `t${i}`);
    const later = Array.from({ length: 20 }, (_, i) => `u${i}`);
    const seating = seat(seat(nobody, top, 20, 0), later, 20, MINUTE);
    expect(named(seating)).toEqual(later.toSorted());
  });
});

it('no further tenant gets a label where 40 have lost theirs within the hour, but for one of these', () => {
  const tops = Array.from({ length: 5 }, (_, round) => Array.from({ length: 20 }, (__, i) => `${round}-${i}`));
  let seating = nobody;
  for (const [round, top] of tops.entries()) seating = seat(seating, top, 20, round * MINUTE);
  expect(named(seating)).toEqual(tops[2]?.toSorted());
  expect(named(seat(seating, ['4-0', '0-7'], 20, 5 * MINUTE))).toContain('0-7');
  expect(named(seat(seating, ['4-0'], 20, 61 * MINUTE + 2 * MINUTE))).toContain('4-0');
});

describe('the top', () => {
  const tenants = Array.from({ length: 30 }, (_, i) => ({ tenant: `t${i}`, depth: i, age: i < 5 ? null : 100 - i }));

  it('is half by one order and half by the other, in turns, the highest first', () => {
    const top = topOf(tenants, 6, [({ depth }) => depth, ({ age }) => age]);
    expect(top).toEqual(['t29', 't5', 't28', 't6', 't27', 't7']);
  });

  it('has a tenant once that is high in both, and passes over those that an order does not rank', () => {
    expect(topOf(tenants.slice(0, 7), 20, [({ depth }) => depth, ({ age }) => age])).toHaveLength(7);
    expect(topOf(tenants.slice(0, 5), 20, [({ age }) => age])).toEqual([]);
  });
});
