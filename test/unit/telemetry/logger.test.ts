import { describe, expect, it } from 'vitest';
import { describeThrown } from '../../../functions/lib/telemetry/logger.ts';

const circular = new Error('round');
circular.cause = circular;

describe('what was thrown', () => {
  it.each<[string, unknown, string]>([
    ['an error', new TypeError('bad'), 'TypeError: bad'],
    [
      'an error with its causes, of which the outermost says the least',
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
      'TypeError: fetch failed; caused by Error: connect ECONNREFUSED',
    ],
    [
      'what a wrapping error says again, once',
      new Error('stats: away', { cause: new Error('away', { cause: new Error('WRONGPASS') }) }),
      'Error: stats: away; caused by Error: WRONGPASS',
    ],
    ['an error that is its own cause', circular, 'Error: round'],
    ['something that is no error', 'text', 'thrown string: text'],
    ['a cause that is no error is not shown', new Error('a', { cause: { password: 'p' } }), 'Error: a'],
  ])('is told of %s', (_what, thrown, said) => {
    expect(describeThrown(thrown)).toBe(said);
  });

  it('is told in at most 1,000 characters', () => {
    expect(describeThrown(new Error('x'.repeat(5_000))).length).toBeLessThanOrEqual(1_001);
  });
});
