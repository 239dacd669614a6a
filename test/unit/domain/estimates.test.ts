import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drainSeconds, expectedRate, retryAfterSeconds } from '../../../functions/lib/domain/estimates.ts';
import { retryDelayMs } from '../../../functions/lib/domain/retry.ts';

describe('estimates', () => {
  it("go by the tenant's own rate, else by its weight's part of the queue's, else are not made", () => {
    expect(expectedRate({ tenant: 4, queue: 100, weightShare: 0.5 })).toBe(4);
    expect(expectedRate({ tenant: null, queue: 100, weightShare: 0.25 })).toBe(25);
    expect(expectedRate({ tenant: 0, queue: 100, weightShare: 0.25 })).toBe(25);
    expect(expectedRate({ tenant: null, queue: null, weightShare: 0.25 })).toBeNull();
    expect(expectedRate({ tenant: null, queue: 0, weightShare: 1 })).toBeNull();
  });

  it('say when the waiting jobs will have been served', () => {
    expect(drainSeconds(10, 4)).toBe(3);
    expect(drainSeconds(0, null)).toBe(0);
    expect(drainSeconds(10, null)).toBeNull();
  });

  it('say when to come again: once those have been served that are in the way', () => {
    expect(retryAfterSeconds(400, 40)).toBe(10);
    expect(retryAfterSeconds(1, 1_000)).toBe(1);
    expect(retryAfterSeconds(500, 0.001)).toBe(3_600);
    expect(retryAfterSeconds(500, null)).toBe(60);
  });
});

describe('the wait before a retry', () => {
  const backoff = { baseMs: 2_000, capMs: 600_000 };

  it('lies below a bound that doubles up to the cap', () => {
    const longest = (attempt: number) => retryDelayMs(attempt, backoff, 1 - Number.EPSILON);
    expect([1, 2, 3, 9, 10, 100, 5_000].map(longest)).toEqual([
      1_999, 3_999, 7_999, 511_999, 599_999, 599_999, 599_999,
    ]);
    expect(retryDelayMs(50, backoff, 0)).toBe(0);
  });

  it('is spread over all of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const bound = Math.min(backoff.capMs, backoff.baseMs * 2 ** (attempt - 1));
          expect(retryDelayMs(attempt, backoff, random)).toBe(Math.floor(bound * random));
        },
      ),
    );
  });
});
