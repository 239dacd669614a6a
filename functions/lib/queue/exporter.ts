import type { StoredJob, TenantPage } from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import { QueueUnavailable } from './errors.ts';
import { readStored } from './record.ts';
import { list } from './scripts/list.ts';
import { withdraw } from './scripts/withdraw.ts';

/** A job on its way out of the queue. */
export interface WithdrawnJob extends StoredJob {
  readonly tenant: string;
}

/** The queue as who moves its jobs elsewhere sees it. */
export interface Exporter {
  /** Tenants with waiting jobs, the deepest first. */
  waitingTenants(limit: number): Promise<TenantPage['tenants']>;
  /** Takes up to `count` (1–1,000) waiting jobs of a tenant out of the queue, to be read by `withdrawn`. */
  withdraw(tenant: string, count: number): Promise<{ count: number; left: number }>;
  /** The first of all jobs taken out so far, in the order of their enqueue. */
  withdrawn(count: number): Promise<WithdrawnJob[]>;
  /** Forgets the first so many of them, which are kept elsewhere by now. */
  forget(count: number): Promise<void>;
}

const unavailable = (error: unknown): never => {
  throw new QueueUnavailable(`withdrawn jobs: ${String(error)}`, { cause: error });
};

export function exporterOf({ run, redis, keys, shard }: QueueCore): Exporter {
  return {
    waitingTenants: (limit) => run(list, { sort: 'depth', offset: 0, limit }),
    withdraw: (tenant, count) => run(withdraw, { tenant, count }),
    async withdrawn(count) {
      const tagged = await redis.zrangeBuffer(keys.withdrawn, 0, String(count - 1)).catch(unavailable);
      return tagged.map((member) => {
        const end = 2 + member.readUInt16BE(0);
        return { tenant: member.toString('utf8', 2, end), ...readStored(shard, member.subarray(end)) };
      });
    },
    async forget(count) {
      if (count > 0) await redis.zremrangebyrank(keys.withdrawn, 0, count - 1).catch(unavailable);
    },
  };
}
