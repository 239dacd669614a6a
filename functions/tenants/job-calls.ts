import type { DeadLetterBody } from '../contract/dead.ts';
import type { WaitingJobBody } from '../contract/waiting-jobs.ts';
import type { TenantId } from '../lib/domain/ids.ts';
import type { StoredJob } from '../lib/domain/outcomes.ts';
import { type Answer, answer, problem } from '../lib/lambda/answer.ts';
import type { Change } from './audit.ts';
import { type ChangesOptions, changesOf } from './changes.ts';

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const iso = (ms: number) => new Date(ms).toISOString();

const bodyOf = ({ id, type, payload, attempts, maxAttempts, cost, enqueuedAtMs }: StoredJob) => ({
  id,
  type,
  payload: JSON.parse(payload) as unknown,
  attempts,
  maxAttempts,
  cost,
  enqueuedAt: iso(enqueuedAtMs),
});

const unknownJob = (id: string): Answer =>
  problem('unknown_job', `The tenant has no dead letter ${id}: it may have been dropped or redriven.`);

/** What the routes about the jobs of a tenant do: to look at those that wait, and at those that have died, which can be dropped or redriven. */
export function jobCalls(options: ChangesOptions) {
  const { openQueue } = options;
  const changing = changesOf(options);

  return {
    async waiting(
      tenant: TenantId,
      { state, limit, cursor }: PageQuery & { state: 'ready' | 'delayed' },
    ): Promise<Answer> {
      const { entries, next } = await (await openQueue()).waitingJobs(tenant, state, limit, cursor);
      const jobs: WaitingJobBody[] = entries.map((job) => ({ ...bodyOf(job), readyAt: iso(job.readyAtMs) }));
      return answer(200, { jobs, next });
    },

    async dead(tenant: TenantId, { limit, cursor }: PageQuery): Promise<Answer> {
      const { entries, next } = await (await openQueue()).deadLetters(tenant, limit, cursor);
      const dead: DeadLetterBody[] = entries.map((letter) => ({
        ...bodyOf(letter),
        diedAt: iso(letter.diedAtMs),
        error: letter.error,
      }));
      return answer(200, { dead, next });
    },

    drop: (change: Change, id?: string): Promise<Answer> =>
      changing(change, async (queue) => {
        const dropped = await queue.dropDead(change.tenant, id);
        if (id !== undefined && dropped === 0) return { refused: unknownJob(id) };
        return { answer: () => answer(200, { tenant: change.tenant, dropped }) };
      }),

    redrive: (change: Change, id?: string): Promise<Answer> =>
      changing(change, async (queue) => {
        const outcome = await queue.redrive(change.tenant, id);
        if (outcome === null) return { refused: unknownJob(id ?? '') };
        const { redriven, remaining, dispatch } = outcome;
        return { dispatch, answer: () => answer(200, { tenant: change.tenant, redriven, remaining }) };
      }),
  };
}
