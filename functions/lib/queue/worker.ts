import type { JobResult, Lease, Visit } from '../domain/outcomes.ts';
import { newSeed, type QueueCore } from './core.ts';
import type { Worker } from './queue-client.ts';
import { readJob } from './record.ts';
import { extend } from './scripts/extend.ts';
import { type OpenedReply, open } from './scripts/open.ts';
import { packResult, settle } from './scripts/settle.ts';

/** The queue as who runs the jobs of a visit sees it. */
export function workerOf({ runTwice, shard }: QueueCore): Worker {
  const visitOf = (leaseId: string, { records, ...opened }: OpenedReply): Visit => ({
    ...opened,
    leaseId,
    jobs: records.map(({ index, record }) => readJob(shard, index, record)),
  });

  async function settleJobs(lease: Lease, results: readonly JobResult[], claimNext: boolean) {
    const seed = claimNext ? newSeed() : '';
    const reply = await runTwice(settle, { ...lease, seed }, results.map(packResult));
    return reply.outcome === 'continued'
      ? { outcome: reply.outcome, visit: visitOf(lease.leaseId, reply.opened) }
      : reply;
  }

  return {
    async open(lease, nonce) {
      const reply = await runTwice(open, { ...lease, nonce });
      return reply.outcome === 'opened'
        ? { outcome: reply.outcome, visit: visitOf(lease.leaseId, reply.opened) }
        : reply;
    },
    extend: (lease) => runTwice(extend, lease),
    settle: (lease, results, { claimNext }) => settleJobs(lease, results, claimNext),
  };
}
