import type { Survey, SweepOutcome } from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import { QueueUnavailable } from './errors.ts';
import type { Operator } from './queue-client.ts';
import { keep } from './scripts/keep.ts';
import { stats } from './scripts/stats.ts';
import { survey } from './scripts/survey.ts';
import { sweep } from './scripts/sweep.ts';

/** The queue as its watcher sees it: the scripts that read and check it as a whole, a slice a call. */
export interface Watcher extends Pick<Operator, 'stats' | 'lastReading'> {
  /** Some names of all tenants that Redis holds, and the cursor from which to go on ('0' = these were the last). */
  tenantNames(cursor: string): Promise<{ names: string[]; cursor: string }>;
  /** Readings of about `count` tenants with waiting jobs from `cursor` on ('' = of none, '0' = from the start), and of those named. */
  survey(cursor: string, count: number, named?: readonly string[]): Promise<Survey>;
  /** Counts anew what is kept of up to 100 tenants and puts right what differs; with `totals`, the queue's own sums too. */
  sweep(tenants: readonly string[], totals: boolean): Promise<SweepOutcome>;
  /** Stores a reading that was made from the one of that number; `overtaken` when another was stored since. */
  keepReading(follows: number, reading: string): Promise<'kept' | 'overtaken'>;
}

/** What watches a queue. */
export const watcherOf = (core: QueueCore): Watcher => ({
  stats: () => core.run(stats, {}),
  tenantNames: (cursor) => scanTenants(core, cursor),
  lastReading: () => lastReadingOf(core),
  survey: (cursor, count, named = []) => core.run(survey, { cursor, count }, named),
  sweep: (tenants, totals) => core.run(sweep, { totals: totals ? 1 : 0 }, tenants),
  keepReading: (follows, reading) => core.run(keep, { follows, reading }),
});

/** The last reading that was kept, and its number; number 0 and no text when there is none. */
export async function lastReadingOf({ redis, keys }: QueueCore): Promise<{ number: number; reading: string | null }> {
  const [number, reading] = await redis.hmget(keys.monitor, 'number', 'reading').catch((error: unknown) => {
    throw new QueueUnavailable(`last reading: ${String(error)}`, { cause: error });
  });
  return { number: Number(number ?? 0), reading: reading ?? null };
}

/** Keys that a step of a scan looks at: a third of a millisecond of the server's time. */
const SCANNED_KEYS = 1_000;

/**
 * A step through the names of all tenants. No script, since a script must not scan; and without an index of all tenants,
 * which every enqueue would have to keep for this alone. The queue's keys share a slot, in a cluster of one shard.
 */
async function scanTenants({ redis, keys }: QueueCore, cursor: string) {
  const beginning = keys.tenant('');
  const [next, found] = await redis
    .scan(cursor, 'MATCH', `${beginning}*`, 'COUNT', SCANNED_KEYS)
    .catch((error: unknown) => {
      throw new QueueUnavailable(`scan: ${String(error)}`, { cause: error });
    });
  return { names: found.map((key) => key.slice(beginning.length)), cursor: next };
}
