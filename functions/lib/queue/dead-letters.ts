import type { Redriven } from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import { parseJobId } from './record.ts';
import { type Absent, drop } from './scripts/drop.ts';
import { redrive } from './scripts/redrive.ts';

/** What operators do about the jobs of a tenant that have died. */
export interface DeadLetters {
  /** Removes one, or all; returns how many that were. */
  dropDead(tenant: string, id?: string): Promise<number>;
  /** Puts one, or all from the oldest on, back to wait with all their attempts, as far as the caps allow. Null: there is none of that id. */
  redrive(tenant: string, id?: string): Promise<Redriven | null>;
}

const ALL = Buffer.alloc(0);

/** Looks for a letter slice by slice. Those that die meanwhile only move it further on; null when it is nowhere. */
async function search<Found extends { outcome: string }>(
  slice: (from: number) => Promise<Found | Absent>,
): Promise<Found | null> {
  for (let from = 0; ; ) {
    const reply = await slice(from);
    if (!isAbsent(reply)) return reply;
    if (reply.next === 0) return null;
    from = reply.next;
  }
}

const isAbsent = (reply: { outcome: string }): reply is Absent => reply.outcome === 'absent';

export function deadLettersOf({ run, shard }: QueueCore): DeadLetters {
  return {
    async dropDead(tenant, id) {
      const bytes = id === undefined ? ALL : parseJobId(shard, id);
      if (!bytes) return 0;
      const dropped = await search((from) => run(drop, { tenant, id: bytes, from }));
      return dropped?.count ?? 0;
    },

    async redrive(tenant, id) {
      if (id !== undefined) {
        const bytes = parseJobId(shard, id);
        const one = bytes && (await search((from) => run(redrive, { tenant, id: bytes, from })));
        return one ? { redriven: one.count, remaining: one.remaining, dispatch: one.dispatch } : null;
      }
      let [redriven, dispatch] = [0, false];
      for (;;) {
        const slice = await run(redrive, { tenant, id: ALL, from: 0 });
        if (slice.outcome === 'absent') throw new TypeError('redrive looked for no letter and missed it');
        redriven += slice.count;
        dispatch ||= slice.dispatch;
        if (!slice.more) return { redriven, remaining: slice.remaining, dispatch };
      }
    },
  };
}
