import type { DeadLetter, Page, WaitingJob } from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import { readDead, readWaiting } from './record.ts';
import { peek } from './scripts/peek.ts';

/** Looks at a tenant's jobs, a page at a time; a page ends early rather than hold more than 1 MiB. `cursor` from the page before. */
export interface Pages {
  /** Jobs that wait, in the order in which they will be served (`ready`) or come due (`delayed`). The order moves on meanwhile. */
  waitingJobs(tenant: string, state: 'ready' | 'delayed', limit: number, cursor?: string): Promise<Page<WaitingJob>>;
  /** Newest first. Letters that come meanwhile move nothing from one page to another. */
  deadLetters(tenant: string, limit: number, cursor?: string): Promise<Page<DeadLetter>>;
}

export function pagesOf({ run, shard }: QueueCore): Pages {
  const page = async (tenant: string, state: string, limit: number, cursor: string) => {
    const { left, records } = await run(peek, { tenant, state, left: cursor, count: limit });
    return { records, next: left === 0 ? null : String(left) };
  };
  return {
    async waitingJobs(tenant, state, limit, cursor = '0') {
      const { records, next } = await page(tenant, state, limit, cursor);
      const entries = records.map(({ dueMs, record }) =>
        readWaiting(shard, record, state === 'delayed' ? dueMs : null),
      );
      return { entries, next };
    },
    async deadLetters(tenant, limit, cursor = '0') {
      const { records, next } = await page(tenant, 'dead', limit, cursor);
      return { entries: records.map(({ record }) => readDead(shard, record)), next };
    },
  };
}
