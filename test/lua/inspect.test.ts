import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, claimSome, failed, learn, pass, put } from '../support/visits.ts';

it('shows an unknown tenant as an idle one and writes nothing', async () => {
  const queue = await testQueue();
  const before = await snapshot(queue);
  expect(await queue.client.inspect('never {seen}')).toEqual({
    tenant: 'never {seen}',
    plan: 'free',
    record: {
      plan: null,
      weight: null,
      maxDepth: null,
      maxConcurrency: null,
      maxBytes: null,
      maxJobsPerSecond: null,
      burst: null,
    },
    claimPlan: null,
    etag: expect.stringMatching(/^[0-9a-f]{16}$/),
    maxBytes: null,
    maxJobsPerSecond: null,
    burst: 1,
    limitedUntilMs: null,
    weight: 1,
    maxDepth: 5_000,
    maxConcurrency: 50,
    ready: 0,
    delayed: 0,
    inFlight: 0,
    lanes: 0,
    dead: 0,
    bytes: 0,
    held: [],
    heldUntilMs: null,
    oldestReadySinceMs: null,
    dueMs: null,
    queuePaused: false,
    freeSlots: 40,
    dispatcherAlive: false,
    visitsAhead: null,
    rate: { tenant: null, queue: null, weightShare: 1 },
    rateWindowMs: 0,
    served: 0,
    done: 0,
    failed: 0,
    enqueued: 0,
    p95Ms: null,
    meanMs: null,
    nowMs: expect.any(Number),
  });
  expect(await snapshot(queue)).toEqual(before);
});

it('counts what became of the tenant’s jobs', async () => {
  const { client } = await testQueue({ quantum: 10, capacity: 1 });
  await learn(client, ['acme'], 1);
  await put(client, 'acme', 10);
  await put(client, 'acme', 2);
  await put(client, 'acme', 3, { delayMs: 60_000 });
  const visit = await claimOne(client);
  await client.settle(visit, [failed(1, 60_000), ...allDone(visit).slice(1, 4)], { claimNext: false });
  await client.settle(visit, [{ index: 5, result: 'given_back' }], { claimNext: false });
  await client.settle(visit, [{ index: 6, result: 'dead', durationMs: 1, error: '' }], { claimNext: false });
  expect(await client.inspect('acme')).toMatchObject({
    ready: 3,
    delayed: 4,
    inFlight: 4,
    lanes: 1,
    dead: 1,
    served: 10,
    done: 4,
    failed: 2,
    enqueued: 16,
  });
});

it('tells since when the oldest ready job waits, the older of what came back and what came new', async () => {
  const queue = await testQueue();
  const { client } = queue;
  const age = async () => {
    const { oldestReadySinceMs, nowMs } = await client.inspect('acme');
    return oldestReadySinceMs === null ? null : Math.floor((nowMs - oldestReadySinceMs) / 10_000);
  };
  await put(client, 'acme', 1, { delayMs: 5_000 });
  expect(await age()).toBeNull();
  await put(client, 'acme', 2);
  await pass(queue, 10_000);
  expect(await age()).toBe(1);
  const [lease] = await claimSome(client, 1);
  await pass(queue, 10_000);
  await put(client, 'acme', 1);
  expect(await age()).toBe(2);
  const [other] = await claimSome(client, 1);
  expect(await age()).toBe(0);
  if (lease) await client.release(lease);
  expect(await age()).toBe(2);
  if (other) await client.release(other);
  await client.purge('acme', 'jobs');
  expect(await age()).toBeNull();
});

it('tells how many tenants are visited before it', async () => {
  const { client } = await testQueue();
  for (const tenant of ['c', 'b', 'a']) await put(client, tenant, 2);
  const ahead = async () =>
    Promise.all(['c', 'b', 'a'].map(async (tenant) => (await client.inspect(tenant)).visitsAhead));
  expect(await ahead()).toEqual([0, 1, 2]);
  await claimSome(client, 1);
  expect(await ahead()).toEqual([2, 0, 1]);
  await client.pause('b');
  expect(await ahead()).toEqual([1, null, 0]);
});

it('measures the tenant’s rate over the last one to two minutes', async () => {
  const queue = await testQueue();
  const { client } = queue;
  const serve = (times: number) => learn(client, Array(times).fill('acme'));
  /** What was served, and in how many seconds, by the tenant's rate and by the queue's. */
  const measured = async () => {
    const { rate, rateWindowMs } = await client.inspect('acme');
    const served = [rate.tenant ?? 0, rate.queue ?? 0].map((perSecond) => Math.round(perSecond * rateWindowMs) / 1_000);
    return { served, seconds: rateWindowMs / 1_000 };
  };
  await serve(10);
  await pass(queue, 30_000);
  let { served, seconds } = await measured();
  expect(served).toEqual([10, 10]);
  expect(seconds).toBeGreaterThanOrEqual(30);
  await pass(queue, 40_000);
  await serve(20);
  await pass(queue, 35_000);
  ({ served, seconds } = await measured());
  expect(served).toEqual([30, 30]);
  expect(seconds).toBeGreaterThanOrEqual(105);
  await pass(queue, 40_000);
  await serve(6);
  // The first reading has made room for the second: what came before it no longer counts.
  ({ served, seconds } = await measured());
  expect(served).toEqual([26, 26]);
  expect(seconds).toBeGreaterThanOrEqual(75);
  expect(seconds).toBeLessThan(105);
});

it('tells no rate when all that was claimed came back', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme');
  const [lease] = await claimSome(client, 1);
  await pass(queue, 5_000);
  expect((await client.inspect('acme')).rate.tenant).toBeGreaterThan(0);
  if (lease) await client.release(lease);
  expect((await client.inspect('acme')).rate).toMatchObject({ tenant: null, queue: null });
  expect(await client.stats()).toMatchObject({ ratePerSecond: null });
});
