import type { TenantView } from '../lib/domain/outcomes.ts';
import type { Answer } from '../lib/lambda/answer.ts';
import type { Operator } from '../lib/queue/queue-client.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { type Change, tellChange } from './audit.ts';

/** What came of a change: a refusal, or what to do next, and how to answer once the tenant has been seen again. */
type Changed =
  | { readonly refused: Answer }
  | {
      readonly dispatch?: boolean;
      readonly answer: (after: TenantView, queue: Operator) => Answer | Promise<Answer>;
    };

export interface ChangesOptions {
  readonly openQueue: () => Promise<Operator>;
  readonly wake: () => Promise<void>;
  readonly log: Log;
}

/** Makes changes of tenants, and leaves a line about each that says who made it. */
export const changesOf =
  ({ openQueue, wake, log }: ChangesOptions) =>
  async (change: Change, make: (queue: Operator) => Promise<Changed>): Promise<Answer> => {
    const queue = await openQueue();
    const before = await queue.inspect(change.tenant);
    let after: TenantView | undefined;
    let refused = false;
    try {
      const changed = await make(queue);
      if ('refused' in changed) {
        refused = true;
        return changed.refused;
      }
      if (changed.dispatch === true) await wake();
      after = await queue.inspect(change.tenant);
      return await changed.answer(after, queue);
    } finally {
      // Also when the answer was lost: then the change may have been made.
      if (!refused) tellChange(log, change, before, after);
    }
  };
