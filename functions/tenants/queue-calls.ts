import type { QueueChange } from '../contract/queue.ts';
import type { QueueStats } from '../lib/domain/outcomes.ts';
import { type Answer, answer } from '../lib/lambda/answer.ts';
import type { Caller } from '../lib/lambda/caller.ts';
import type { Operator } from '../lib/queue/queue-client.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { queueBody } from './views.ts';

interface QueueCallsOptions {
  readonly settings: { readonly queue: string };
  readonly openQueue: () => Promise<Operator>;
  readonly wake: () => Promise<void>;
  readonly log: Log;
  /** When to have answered, in ms from the beginning: what is not removed by then is left for another call. */
  readonly purgeMs: number;
}

interface Change {
  readonly operation: string;
  readonly caller: Caller;
}

/** Tenants of a slice of a purge. */
const TENANTS = 100;

const stateOf = ({ paused, capacity, ready, delayed }: QueueStats) => ({ paused, capacity, ready, delayed });

/** What the routes about the queue as a whole do. Changes leave a line about them. */
export function queueCalls({ settings, openQueue, wake, log, purgeMs }: QueueCallsOptions) {
  async function changing(
    { operation, caller }: Change,
    make: (queue: Operator) => Promise<{ dispatch: boolean; body?: Record<string, unknown> }>,
  ): Promise<Answer> {
    const queue = await openQueue();
    const before = await queue.stats();
    let after: QueueStats | undefined;
    try {
      const { dispatch, body } = await make(queue);
      if (dispatch) await wake();
      after = await queue.stats();
      return answer(200, body ?? queueBody(settings.queue, after));
    } finally {
      // Also when the answer was lost: then the change may have been made.
      const states = { before: stateOf(before), after: after === undefined ? null : stateOf(after) };
      log.info('audit', { event: 'audit', operation, caller, ...states });
    }
  }

  return {
    async show(): Promise<Answer> {
      const queue = await openQueue();
      return answer(200, queueBody(settings.queue, await queue.stats()));
    },

    steer: (change: Change, wish: QueueChange): Promise<Answer> => changing(change, (queue) => queue.steer(wish)),

    purge: (change: Change): Promise<Answer> =>
      changing(change, async (queue) => {
        const untilMs = performance.now() + purgeMs;
        const removed = { ready: 0, delayed: 0 };
        for (let left = true; left && performance.now() < untilMs; ) {
          const { tenants } = await queue.list('depth', TENANTS);
          for (const { tenant } of tenants) {
            const receipt = await queue.purge(tenant, 'jobs');
            removed.ready += receipt.ready;
            removed.delayed += receipt.delayed;
          }
          left = tenants.length > 0;
        }
        const { ready, delayed } = await queue.stats();
        return { dispatch: false, body: { queue: settings.queue, removed, remaining: ready + delayed } };
      }),
  };
}
