import { createHash, randomBytes } from 'node:crypto';
import { assertNever, type EnqueueOutcome } from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import type { EnqueueRequest, Producer } from './queue-client.ts';
import { batchIds, packNewJob, withoutTrace } from './record.ts';
import { enqueue } from './scripts/enqueue.ts';
import { stats } from './scripts/stats.ts';

/** The queue as who enqueues sees it. */
export function producerOf({ run, runTwice, shard }: QueueCore): Producer {
  async function enqueueJobs(request: EnqueueRequest): Promise<EnqueueOutcome> {
    const packed = request.jobs.map(packNewJob);
    const enqueueId = newEnqueueId();
    const digest = createHash('sha256');
    for (const [place, job] of request.jobs.entries()) {
      const same = withoutTrace(packed[place] ?? Buffer.alloc(0), job);
      digest.update(`${same.length}:`).update(same);
    }
    const reply = await runTwice(
      enqueue,
      {
        tenant: request.tenant,
        claimPlan: request.claimPlan ?? '',
        onceField:
          request.idempotencyKey === undefined ? `n:${enqueueId.toString('hex')}` : `k:${request.idempotencyKey}`,
        digest: digest.digest(),
        enqueueId,
      },
      packed,
    );
    switch (reply.outcome) {
      case 'accepted':
        return {
          outcome: 'accepted',
          ids: batchIds(shard, enqueueId, reply.jobs),
          depth: reply.depth,
          dispatch: reply.dispatch,
        };
      case 'repeated': {
        const ids = batchIds(shard, reply.enqueueId, reply.jobs);
        // The same enqueue id: our own second try, to the caller the first. The lost reply may have asked for a dispatcher,
        // and one too many does no harm.
        return reply.enqueueId.equals(enqueueId)
          ? { outcome: 'accepted', ids, depth: reply.depth, dispatch: true }
          : { outcome: 'repeated', ids, depth: reply.depth };
      }
      case 'full':
      case 'conflict':
      case 'unknown_plan':
        return reply;
      default:
        return assertNever(reply);
    }
  }

  return { enqueue: enqueueJobs, stats: () => run(stats, {}) };
}

/** 48 bits of time, so that ids sort roughly by age, and 32 random ones. */
function newEnqueueId(): Buffer {
  const id = randomBytes(10);
  id.writeUIntBE(Date.now(), 0, 6);
  return id;
}
