import { describe, expect, it } from 'vitest';
import { Launcher } from '../../functions/dispatch/launcher.ts';
import { dispatchLoop } from '../../functions/dispatch/loop.ts';
import { createMarkOfLife } from '../../functions/dispatch/mark-of-life.ts';
import type { ClaimedVisit } from '../../functions/lib/domain/outcomes.ts';
import type { InvokeOutcome } from '../../functions/lib/lambda/invoker.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { QueueUnavailable } from '../../functions/lib/queue/errors.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { runLease } from '../../functions/process/engine/run-lease.ts';
import type { JobHandler } from '../../functions/process/jobs/job.ts';
import { keptLog } from '../support/log.ts';
import { testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { workerOptions } from '../support/worker.ts';

type Invoke = (visit: ClaimedVisit) => Promise<InvokeOutcome>;

/** Accepts every visit, as Lambda does, and then works it off beside the loop. */
function working(client: QueueClient, handler: JobHandler<unknown> = async () => {}) {
  const work: Promise<void>[] = [];
  const invoke: Invoke = async ({ leaseId, token }) => {
    work.push(runLease({ leaseId, token }, workerOptions(client, handler)));
    return { outcome: 'accepted' };
  };
  return { invoke, worked: () => Promise.all(work) };
}

/** Runs a dispatcher; resolves when it returns. */
async function dispatch(queue: QueueClient, invoke: Invoke, forMs = 60_000) {
  const { log, lines } = keptLog();
  const launcher = new Launcher({ queue, log, invoke });
  const untilMs = performance.now() + forMs;
  await dispatchLoop({ queue, launcher, mark: createMarkOfLife(queue, log), log, untilMs });
  return { ...launcher.counts, lines, early: performance.now() < untilMs };
}

const tenants = ['acme', 'globex', 'initech', 'umbrella', 'hooli'];

// Together, since most of their time is the last block before a dispatcher returns.
describe.concurrent('a dispatcher', () => {
  it('sees every job done, and returns when nothing is left to wait for', async () => {
    const { client, keys, redis } = await testQueue({ capacity: 8 });
    for (const tenant of tenants) await client.enqueue({ tenant, jobs: newJobs(60) });
    const { invoke, worked } = working(client);
    expect(await dispatch(client, invoke)).toMatchObject({ refused: 0, early: true });
    await worked();
    expect(await client.stats()).toMatchObject({ done: 300, ready: 0, inFlight: 0, visitsInFlight: 0, late: 0 });
    expect(await redis.exists(keys.dispatcher)).toBe(0);
    // So that the next job has one invoked.
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ dispatch: true });
  });

  it('returns at once from a queue with nothing in it', async () => {
    const { client } = await testQueue();
    let blocks = 0;
    const queue = {
      ...client,
      waitForWake: async (ms: number) => {
        blocks++;
        return client.waitForWake(ms);
      },
    };
    expect(await dispatch(queue, working(client).invoke)).toMatchObject({ visits: 0, early: true });
    expect(blocks).toBe(0);
  });

  it('never has more visits in flight than there is capacity, and uses all of it', async () => {
    const { client } = await testQueue({ capacity: 5 });
    for (const tenant of tenants) await client.enqueue({ tenant, jobs: newJobs(10) });
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const { invoke, worked } = working(client, async () => {
      most = Math.max(most, ++running);
      if (running === 5) gate.resolve();
      await gate.promise;
      running--;
    });
    await dispatch(client, invoke);
    await worked();
    expect(most).toBe(5);
    expect(await client.stats()).toMatchObject({ done: 50 });
  });

  it('gives back what is refused, without an attempt used, and goes on', async () => {
    const { client } = await testQueue({ capacity: 4 });
    for (const tenant of tenants) await client.enqueue({ tenant, jobs: newJobs(4) });
    const attempts: number[] = [];
    const { invoke, worked } = working(client, async ({ attempt }) => void attempts.push(attempt));
    let refusals = 6;
    const sometimes: Invoke = async (visit) =>
      refusals-- > 0 ? { outcome: 'refused', reason: 'throttled', detail: '' } : invoke(visit);
    expect(await dispatch(client, sometimes)).toMatchObject({ refused: 6 });
    await worked();
    expect(attempts).toEqual(Array(20).fill(1));
    expect(await client.stats()).toMatchObject({ done: 20, failed: 0, late: 0 });
  });

  it('misses nothing that comes while it is about to leave', async () => {
    const { client, keys, redis } = await testQueue();
    let late = 0;
    let marked: unknown;
    let enqueued: unknown;
    const done: unknown[] = [];
    const queue: QueueClient = {
      ...client,
      async unmarkDispatcher() {
        // The last moment at which an enqueue still relies on this dispatcher.
        if (late++ === 0) {
          marked = await redis.exists(keys.dispatcher);
          enqueued = await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
        }
        await client.unmarkDispatcher();
      },
    };
    const { invoke, worked } = working(client, async ({ id }) => void done.push(id));
    expect(await dispatch(queue, invoke)).toMatchObject({ visits: 1, early: true });
    await worked();
    expect(marked).toBe(1);
    expect(enqueued).toMatchObject({ outcome: 'accepted', dispatch: false });
    expect(done).toHaveLength(1);
    expect(late).toBe(2);
    expect(await redis.exists(keys.dispatcher)).toBe(0);
  });

  it('is woken at once by an enqueue, and shows its mark of life while it blocks', async () => {
    const { client, keys, redis } = await testQueue();
    // Due within the minute: a reason to stay.
    await client.enqueue({ tenant: 'later', jobs: newJobs(1, { delayMs: 50_000 }) });
    const started = Promise.withResolvers<number>();
    const { invoke, worked } = working(client, async () => started.resolve(performance.now()));
    const running = dispatch(client, invoke, 6_000);
    await expect.poll(() => redis.exists(keys.dispatcher)).toBe(1);
    // It has but one block behind it by now, and was never woken: this is the mark renewed meanwhile.
    let least = 3_000;
    let renewals = 0;
    await expect
      .poll(
        async () => {
          const left = await redis.pttl(keys.dispatcher);
          if (left > least + 500) renewals++;
          least = left > least ? left : Math.min(least, left);
          return renewals;
        },
        { timeout: 10_000, interval: 50 },
      )
      .toBeGreaterThanOrEqual(2);
    const enqueuedMs = performance.now();
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ dispatch: false });
    expect((await started.promise) - enqueuedMs).toBeLessThan(500);
    expect(await running).toMatchObject({ visits: 1, early: false });
    await worked();
    // Whoever comes now must not rely on it.
    expect(await redis.exists(keys.dispatcher)).toBe(0);
  });

  it('stays for a moment after the last visit, since the next job may well follow', async () => {
    const { client } = await testQueue();
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
    const { invoke, worked } = working(client);
    const running = dispatch(client, invoke);
    await expect.poll(async () => (await client.stats()).done).toBe(1);
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ dispatch: false });
    expect(await running).toMatchObject({ visits: 2 });
    await worked();
  });

  it('serves a delayed job when it is due', async () => {
    const { client } = await testQueue();
    await client.enqueue({ tenant: 'acme', jobs: newJobs(1, { delayMs: 700 }) });
    const enqueuedMs = performance.now();
    let startedMs = 0;
    const { invoke, worked } = working(client, async () => {
      startedMs = performance.now();
    });
    await dispatch(client, invoke);
    await worked();
    expect(startedMs - enqueuedMs).toBeGreaterThan(650);
    expect(startedMs - enqueuedMs).toBeLessThan(1_500);
  });

  it('goes on when the queue was away for a while', async () => {
    const { client, keys, redis } = await testQueue();
    await client.enqueue({ tenant: 'acme', jobs: newJobs(3) });
    let failures = 0;
    const away = () => {
      if (failures >= 4) return;
      failures++;
      throw new QueueUnavailable('away');
    };
    const queue: QueueClient = {
      ...client,
      async tick() {
        away();
        return client.tick();
      },
      async unmarkDispatcher() {
        // Once more while it leaves: its mark must then be there again.
        if (failures === 4) {
          failures++;
          throw new QueueUnavailable('away');
        }
        await client.unmarkDispatcher();
      },
    };
    const { invoke, worked } = working(client);
    const { lines } = await dispatch(queue, invoke);
    await worked();
    expect(lines.filter(({ message }) => message === 'turn failed')).toHaveLength(5);
    expect(await client.stats()).toMatchObject({ done: 3 });
    expect(await redis.exists(keys.dispatcher)).toBe(0);
  });

  it('leaves the mark of a dispatcher that came after it, and that one keeps it', async () => {
    const { client, name, connect, keys, redis } = await testQueue();
    await client.enqueue({ tenant: 'later', jobs: newJobs(1, { delayMs: 50_000 }) });
    const { invoke } = working(client);
    const first = dispatch(client, invoke, 2_500);
    await expect.poll(() => redis.exists(keys.dispatcher)).toBe(1);
    const before = await redis.get(keys.dispatcher);
    const younger = createQueueClient({
      redis: connect(),
      connectBlocking: connect,
      queue: name,
      shard: 0,
    });
    const second = dispatch(younger, invoke, 4_000);
    await expect.poll(() => redis.get(keys.dispatcher)).not.toBe(before);
    const taken = await redis.get(keys.dispatcher);
    await first;
    expect(await redis.get(keys.dispatcher)).toBe(taken);
    await second;
    expect(await redis.exists(keys.dispatcher)).toBe(0);
    await younger.close();
  });

  it('may have others beside it: nothing is served twice', async () => {
    const { client, name, connect } = await testQueue({ capacity: 6 });
    for (const tenant of tenants) await client.enqueue({ tenant, jobs: newJobs(40) });
    const ids: string[] = [];
    const { invoke, worked } = working(client, async ({ id }) => void ids.push(id));
    // Each with connections of its own, as environments have them.
    const others = [1, 2].map(() =>
      createQueueClient({ redis: connect(), connectBlocking: connect, queue: name, shard: 0 }),
    );
    await Promise.all([client, ...others].map((each) => dispatch(each, invoke)));
    await worked();
    await Promise.all(others.map((each) => each.close()));
    expect(ids).toHaveLength(200);
    expect(new Set(ids).size).toBe(200);
  });
});
