import type { QueueCore } from './core.ts';
import { deadLettersOf } from './dead-letters.ts';
import type { Operator } from './queue-client.ts';
import { pagesOf } from './pages.ts';
import { inspect } from './scripts/inspect.ts';
import { list } from './scripts/list.ts';
import { pause } from './scripts/pause.ts';
import { purge } from './scripts/purge.ts';
import { stats } from './scripts/stats.ts';
import { steer } from './scripts/steer.ts';
import { subscribe } from './scripts/subscribe.ts';
import { lastReadingOf } from './watcher.ts';

/** The queue as operators and billing see it. */
export function operatorOf(core: QueueCore): Operator {
  const { run, runTwice } = core;
  return {
    stats: () => run(stats, {}),
    lastReading: () => lastReadingOf(core),
    inspect: (tenant) => run(inspect, { tenant }),
    async list(sort, limit, cursor) {
      const offset = Number(cursor ?? 0);
      // One more than asked for tells whether there is a further page.
      const tenants = await run(list, { sort, offset, limit: limit + 1 });
      return { tenants: tenants.slice(0, limit), next: tenants.length > limit ? String(offset + limit) : null };
    },
    subscribe: (tenant, record, ifMatch = '') =>
      runTwice(subscribe, {
        tenant,
        ifMatch,
        plan: record.plan ?? '',
        weight: record.weight ?? '',
        maxDepth: record.maxDepth ?? '',
        maxConcurrency: record.maxConcurrency ?? '',
        maxBytes: record.maxBytes ?? '',
        maxJobsPerSecond: record.maxJobsPerSecond ?? '',
        burst: record.burst ?? '',
      }),
    async pause(tenant) {
      await runTwice(pause, { tenant, paused: 1 });
    },
    async resume(tenant) {
      const reply = await runTwice(pause, { tenant, paused: 0 });
      return { dispatch: reply.outcome === 'resumed' && reply.dispatch };
    },
    async purge(tenant, scope) {
      for (;;) {
        const reply = await run(purge, { tenant, scope });
        if (reply !== 'more') return reply;
      }
    },
    steer: ({ paused, capacity }) =>
      runTwice(steer, {
        paused: paused === undefined ? '' : Number(paused),
        capacity: capacity === null ? 'deployed' : (capacity ?? ''),
      }),
    ...pagesOf(core),
    ...deadLettersOf(core),
  };
}
