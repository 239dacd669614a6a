import type { Survey, SweepOutcome } from '../domain/outcomes.ts';
import type { QueueClient } from './queue-client.ts';
import { keep } from './scripts/keep.ts';
import { survey } from './scripts/survey.ts';
import { sweep } from './scripts/sweep.ts';

/** The queue as its watcher sees it: the scripts that read and check it as a whole, a slice a call. */
export interface Watcher extends Pick<QueueClient, 'stats' | 'tenantNames' | 'lastReading'> {
  /** Readings of about `count` tenants with waiting jobs from `cursor` on ('' = of none, '0' = from the start), and of those named. */
  survey(cursor: string, count: number, named?: readonly string[]): Promise<Survey>;
  /** Counts anew what is kept of up to 100 tenants and puts right what differs; with `totals`, the queue's own sums too. */
  sweep(tenants: readonly string[], totals: boolean): Promise<SweepOutcome>;
  /** Stores a reading that was made from the one of that number; `overtaken` when another was stored since. */
  keepReading(follows: number, reading: string): Promise<'kept' | 'overtaken'>;
}

/** What watches the queue of a client. */
export const createWatcher = (client: QueueClient): Watcher => ({
  stats: () => client.stats(),
  tenantNames: (cursor) => client.tenantNames(cursor),
  lastReading: () => client.lastReading(),
  survey: (cursor, count, named = []) => client.run(survey, { cursor, count }, named),
  sweep: (tenants, totals) => client.run(sweep, { totals: totals ? 1 : 0 }, tenants),
  keepReading: (follows, reading) => client.run(keep, { follows, reading }),
});
