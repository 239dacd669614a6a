import { newSeed, type QueueCore } from './core.ts';
import { QueueUnavailable } from './errors.ts';
import type { Dispatcher } from './queue-client.ts';
import type { RedisConnection } from './script.ts';
import { claim } from './scripts/claim.ts';
import { mark } from './scripts/mark.ts';
import { release } from './scripts/release.ts';
import { tick } from './scripts/tick.ts';

/** The queue as a dispatcher sees it. */
export function dispatcherOf({ run, keys, shard, connectBlocking, atClose }: QueueCore): Dispatcher {
  let waiting: RedisConnection | undefined;
  /** Of the mark of life. An environment runs one dispatcher at a time. */
  const owner = newSeed();
  atClose(() => waiting?.disconnect());

  return {
    claim: (max) => run(claim, { shard, seed: newSeed(), maxVisits: max }),
    release: (lease) => run(release, lease),
    tick: () => run(tick, {}),
    async waitForWake(timeoutMs) {
      if (connectBlocking === undefined) throw new TypeError('waitForWake needs the option connectBlocking');
      waiting ??= connectBlocking();
      const woken = await waiting.blpop(keys.wake, timeoutMs / 1000).catch((error: unknown) => {
        throw new QueueUnavailable(`wake: ${String(error)}`, { cause: error });
      });
      return woken !== null;
    },
    async markDispatcher(wish) {
      await run(mark, { owner, wish });
    },
    async unmarkDispatcher() {
      await run(mark, { owner, wish: 'leave' });
    },
  };
}
