import { expect } from 'vitest';
import type { ClaimedVisit, JobResult, Lease, Visit } from '../../functions/lib/domain/outcomes.ts';
import type { NewJob, QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { advance } from './advance.ts';
import { claimOne, type TestQueue } from './queue.ts';
import { newJobs } from './queue-fixture.ts';

/** Lets so much time pass for the queue. */
export const pass = (queue: TestQueue, ms: number): Promise<void> => advance(queue.redis, queue.name, ms);

/** Enqueues so many jobs, numbered by their payloads; they must be accepted. */
export async function put(client: QueueClient, tenant: string, count = 1, given: Partial<NewJob> = {}): Promise<void> {
  expect(await client.enqueue({ tenant, jobs: newJobs(count, given) })).toMatchObject({ outcome: 'accepted' });
}

/** Claims up to `max` visits and fails the test when there is none. */
export async function claimSome(client: QueueClient, max: number): Promise<ClaimedVisit[]> {
  const claimed = await client.claim(max);
  expect(claimed.outcome).toBe('claimed');
  return claimed.visits;
}

export async function openLease(client: QueueClient, lease: Lease, nonce = 'nonce'): Promise<Visit> {
  const opened = await client.open(lease, nonce);
  if (opened.outcome !== 'opened') throw new Error(`the lease did not open: ${opened.outcome}`);
  return opened.visit;
}

export const payloads = (visit: Visit): string[] => visit.jobs.map((job) => job.payload);

/** Every job of the visit with the same result. */
export const allDone = (visit: Visit, durationMs = 10): JobResult[] =>
  visit.jobs.map(({ index }) => ({ index, result: 'done', durationMs }));
export const allGivenBack = (visit: Visit): JobResult[] =>
  visit.jobs.map(({ index }) => ({ index, result: 'given_back' }));
export const failed = (index: number, retryDelayMs = 0, error = 'no'): JobResult => ({
  index,
  result: 'failed',
  durationMs: 10,
  retryDelayMs,
  error,
});

/** Lets each tenant finish a job of that duration, so that its visits are no longer of one job. */
export async function learn(client: QueueClient, tenants: readonly string[], durationMs = 10): Promise<void> {
  for (const tenant of tenants) {
    await put(client, tenant);
    const visit = await claimOne(client);
    expect(visit.tenant).toBe(tenant);
    expect(await client.settle(visit, allDone(visit, durationMs), { claimNext: false })).toEqual({ outcome: 'ended' });
  }
}
