import { runLease } from '../../functions/process/engine/run-lease.ts';
import type { VisitOptions } from '../../functions/process/engine/run-visit.ts';
import type { JobModule } from '../../functions/process/jobs/index.ts';
import { defineJob, type JobHandler } from '../../functions/process/jobs/job.ts';
import * as z from 'zod/mini';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { keptLog } from './log.ts';

/** A registry with the one type that jobs of the fixture have. */
const echoing = (handler: JobHandler<unknown>): Record<string, JobModule> => ({
  echo: async () => ({ default: defineJob(z.unknown(), handler) }),
});

/** What an invocation of `process` works with, five minutes long unless said otherwise. */
export const workerOptions = (
  queue: VisitOptions['queue'],
  handler: JobHandler<unknown>,
  given: Partial<VisitOptions> = {},
): VisitOptions => ({
  queue,
  metricsName: 'default',
  jobs: echoing(handler),
  backoff: { baseMs: 0, capMs: 0 },
  random: () => 0,
  log: keptLog().log,
  jobTimeoutMs: 60_000,
  deadlineMs: performance.now() + 300_000,
  ...given,
});

/** Claims and works until nothing can be served any more, one lease after the other. */
export async function workOff(client: QueueClient, handler: JobHandler<unknown> = async () => {}): Promise<void> {
  for (;;) {
    await client.tick();
    const [lease] = (await client.claim(1)).visits;
    if (lease === undefined) return;
    await runLease(lease, workerOptions(client, handler));
  }
}

/** So many short jobs were run that the tenant's visits are no longer of one job each. */
export async function acquaint(client: QueueClient, tenant: string): Promise<void> {
  const jobs = Array.from({ length: 12 }, () => ({
    type: 'echo',
    payload: '0',
    delayMs: 0,
    cost: 1,
    maxAttempts: 5,
    timeoutSeconds: 0,
  }));
  await client.enqueue({ tenant, jobs });
  await workOff(client);
}
