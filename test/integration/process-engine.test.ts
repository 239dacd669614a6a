import { once } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClaimedVisit } from '../../functions/lib/domain/outcomes.ts';
import { QueueUnavailable } from '../../functions/lib/queue/errors.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { runLease } from '../../functions/process/engine/run-lease.ts';
import { PermanentFailure } from '../../functions/process/jobs/job.ts';
import { testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { acquaint, workerOptions, workOff } from '../support/worker.ts';

async function claim(client: QueueClient): Promise<ClaimedVisit> {
  const { visits, outcome } = await client.claim(1);
  const [visit] = visits;
  if (visit === undefined) throw new Error(`no visit to claim: ${outcome}`);
  return visit;
}

/** The queue as it is, but for the methods given. */
const but = (client: QueueClient, given: Partial<QueueClient>): QueueClient => ({ ...client, ...given });

const away = async (): Promise<never> => {
  throw new QueueUnavailable('away');
};

describe('an invocation of process', () => {
  it('runs every job as often as it takes and no more, whatever comes of each', async () => {
    const fate = fc.record({
      tenant: fc.constantFrom('acme', 'globex', 'initech'),
      failures: fc.nat({ max: 4 }),
      permanent: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (fates, visitConcurrency) => {
          const { client } = await testQueue({ visitConcurrency });
          for (const [index, { tenant }] of fates.entries()) {
            await client.enqueue({ tenant, jobs: newJobs(1, { payload: String(index), maxAttempts: 3 }) });
          }
          const runs = fates.map((): number[] => []);
          await workOff(client, async ({ payload, attempt, tenant }) => {
            const job = fates[Number(payload)];
            runs[Number(payload)]?.push(attempt);
            expect(tenant).toBe(job?.tenant);
            if (job === undefined || attempt > job.failures) return;
            throw job.permanent ? new PermanentFailure('no') : new Error('no');
          });
          const expected = fates.map(({ failures, permanent }) =>
            failures === 0 || permanent ? [1] : [1, 2, 3].slice(0, failures + 1),
          );
          expect(runs).toEqual(expected);
          const died = fates.filter(({ failures, permanent }) => failures > 0 && (permanent || failures >= 3)).length;
          expect(await client.stats()).toMatchObject({
            ready: 0,
            delayed: 0,
            inFlight: 0,
            visitsInFlight: 0,
            died,
            done: fates.length - died,
            late: 0,
          });
          await client.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('runs as many jobs at once as the visit has lanes', async () => {
    const { client } = await testQueue({ visitConcurrency: 3, capacity: 1 });
    await acquaint(client, 'acme');
    await client.enqueue({ tenant: 'acme', jobs: newJobs(4) });
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const lease = await claim(client);
    expect(lease).toMatchObject({ jobs: 4, lanes: 3 });
    const work = runLease(
      lease,
      workerOptions(client, async () => {
        most = Math.max(most, ++running);
        // The fourth can only begin when one of the first three is done.
        if (running === 3) gate.resolve();
        await gate.promise;
        running--;
      }),
    );
    await work;
    expect(most).toBe(3);
    expect(await client.stats()).toMatchObject({ inFlight: 0, done: 16 });
  });

  it('keeps its lease for as long as it works', async () => {
    const { client, redis } = await testQueue({ leaseMs: 600 });
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
    const seconds = async () => Number((await redis.time())[0]) + Number((await redis.time())[1]) / 1e6;
    await runLease(
      await claim(client),
      workerOptions(client, async () => {
        const startedAt = await seconds();
        // Two leases long, by the clock that decides.
        await expect.poll(async () => (await seconds()) - startedAt, { timeout: 10_000 }).toBeGreaterThan(1.2);
        expect(await client.tick()).toMatchObject({ crashed: 0 });
      }),
    );
    expect(await client.stats()).toMatchObject({ done: 1, late: 0, inFlight: 0 });
  });

  it('drops an event that is delivered twice', async () => {
    const { client } = await testQueue();
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
    const lease = await claim(client);
    const runs: string[] = [];
    const options = workerOptions(client, async ({ id }) => void runs.push(id));
    await Promise.all([runLease(lease, options), runLease(lease, options)]);
    await runLease(lease, options);
    expect(runs).toHaveLength(1);
    expect(await client.stats()).toMatchObject({ done: 1, inFlight: 0 });
  });

  it('gives its slot up to a tenant that has none, and what it has not started back', async () => {
    const { client } = await testQueue({ capacity: 1, leaseMs: 600 });
    await acquaint(client, 'acme');
    await client.enqueue({ tenant: 'acme', jobs: newJobs(4) });
    const lease = await claim(client);
    expect(lease).toMatchObject({ tenant: 'acme', jobs: 4 });
    let asked = false;
    const order: string[] = [];
    await runLease(
      lease,
      workerOptions(
        client,
        async ({ tenant, payload, attempt }, { signal }) => {
          order.push(`${tenant} ${String(payload)} ${attempt}`);
          if (order.length > 1) return;
          await client.enqueue({ tenant: 'globex', jobs: newJobs(1) });
          // Until a renewal has told it to yield, nothing else could.
          await expect.poll(() => asked, { timeout: 10_000 }).toBe(true);
          signal.throwIfAborted();
        },
        {
          queue: but(client, {
            async extend(renewed) {
              const outcome = await client.extend(renewed);
              asked ||= outcome.outcome === 'extended' && outcome.yield;
              return outcome;
            },
          }),
        },
      ),
    );
    await workOff(
      client,
      async ({ tenant, payload, attempt }) => void order.push(`${tenant} ${String(payload)} ${attempt}`),
    );
    expect(order).toEqual(['acme 0 1', 'globex 0 1', 'acme 1 1', 'acme 2 1', 'acme 3 1']);
  });

  it('near its timeout starts nothing that it could not finish, and claims nothing more', async () => {
    const { client } = await testQueue({ capacity: 1 });
    await acquaint(client, 'acme');
    // Longer than what is left, though the queue's own timeout is not.
    await client.enqueue({ tenant: 'acme', jobs: newJobs(4, { timeoutSeconds: 60 }) });
    const lease = await claim(client);
    await client.enqueue({ tenant: 'globex', jobs: newJobs(1, { timeoutSeconds: 60 }) });
    const options = workerOptions(client, async () => {}, {
      jobTimeoutMs: 1_000,
      deadlineMs: performance.now() + 30_000,
    });
    await runLease(lease, options);
    // The first always begins: nowhere would it have more time. The others lose no attempt.
    expect(await client.inspect('acme')).toMatchObject({ done: 13, ready: 3, inFlight: 0 });
    expect(await client.inspect('globex')).toMatchObject({ done: 0, ready: 1, inFlight: 0 });
    expect(await client.stats()).toMatchObject({ visitsInFlight: 0 });
    const attempts: number[] = [];
    await workOff(client, async ({ attempt }) => void attempts.push(attempt));
    expect(attempts).toEqual([1, 1, 1, 1]);
  });

  it('at its deadline cuts what runs, and gives the rest back', async () => {
    const { client } = await testQueue({ capacity: 1 });
    await acquaint(client, 'acme');
    await client.enqueue({ tenant: 'acme', jobs: newJobs(3) });
    const lease = await claim(client);
    const reasons: unknown[] = [];
    const options = workerOptions(
      client,
      async (_job, { signal }) => {
        await once(signal, 'abort');
        reasons.push(signal.reason);
      },
      { deadlineMs: performance.now() + 200 },
    );
    await runLease(lease, options);
    expect(reasons).toEqual([new Error('the time of the invocation is up')]);
    expect(await client.stats()).toMatchObject({ visitsInFlight: 0, inFlight: 0, ready: 3 });
    const attempts: number[] = [];
    await workOff(client, async ({ attempt }) => void attempts.push(attempt));
    expect(attempts).toEqual([2, 1, 1]);
  });

  it('stops when its lease is no longer its own, and changes nothing', async () => {
    const { client } = await testQueue({ leaseMs: 600 });
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
    const lease = await claim(client);
    let aborted = false;
    await runLease(
      lease,
      workerOptions(client, async (_job, { signal }) => {
        await client.purge('acme', 'everything');
        await once(signal, 'abort');
        aborted = true;
      }),
    );
    expect(aborted).toBe(true);
    expect(await client.stats()).toMatchObject({ inFlight: 0, visitsInFlight: 0, done: 0 });
  });

  it('settles in the end when the queue was away meanwhile', async () => {
    const { client } = await testQueue();
    await client.enqueue({ tenant: 'acme', jobs: newJobs(2) });
    let failures = 3;
    const queue = but(client, {
      async settle(...given) {
        if (failures-- > 0) throw new QueueUnavailable('away');
        return client.settle(...given);
      },
    });
    await runLease(
      await claim(client),
      workerOptions(queue, async () => {}),
    );
    await workOff(client);
    expect(failures).toBeLessThan(0);
    expect(await client.stats()).toMatchObject({ done: 2, inFlight: 0, late: 0, failed: 0 });
  });

  it('gives up when the queue stays away for the life of the lease; the jobs run again elsewhere', async () => {
    const { client } = await testQueue({ leaseMs: 500 });
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
    await runLease(
      await claim(client),
      workerOptions(but(client, { settle: away, extend: away }), async () => {}),
    );
    await expect.poll(async () => (await client.tick()).crashed, { timeout: 10_000 }).toBe(1);
    const attempts: number[] = [];
    await workOff(client, async ({ attempt }) => void attempts.push(attempt));
    expect(attempts).toEqual([2]);
  });
});
