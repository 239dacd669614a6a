import { describe, expect, it } from 'vitest';
import { keysOf } from '../support/keyspace.ts';
import { peekClock } from '../support/peek.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { allDone, allGivenBack, claimSome, failed, learn, pass, payloads, put } from '../support/visits.ts';

/** acme in every state at once: 3 ready of which 1 came back, 2 delayed, 4 in flight (1 of them unopened), 1 dead. */
async function everywhere() {
  const queue = await testQueue({ quantum: 3 });
  const { client } = queue;
  await put(client, 'acme', 1, { maxAttempts: 1 });
  await client.settle(await claimOne(client), [failed(1)], { claimNext: false });
  await put(client, 'acme', 3);
  const open = await claimOne(client);
  await put(client, 'acme', 1);
  const [unopened] = await claimSome(client, 1);
  if (!unopened) throw new Error('nothing was claimed');
  const returning = await claimOne(client).catch(() => undefined);
  expect(returning).toBeUndefined();
  await put(client, 'acme', 1);
  const back = await claimOne(client);
  await client.settle(back, allGivenBack(back), { claimNext: false });
  await client.enqueue({ tenant: 'acme', idempotencyKey: 'k', jobs: newJobs(2) });
  await put(client, 'acme', 2, { delayMs: 60_000 });
  await client.subscribe('acme', { plan: 'growth' });
  await put(client, 'globex', 2, { payload: '"123"' });
  expect(await client.inspect('acme')).toMatchObject({ ready: 3, delayed: 2, inFlight: 4, dead: 1 });
  return { queue, client, open, unopened };
}

const traces = async (queue: TestQueue) => {
  const found = (await keysOf(queue)).filter((key) => key.endsWith(':acme'));
  for (const set of [queue.keys.due, queue.keys.held, queue.keys.depths, queue.keys.oldest, queue.keys.idle]) {
    if ((await queue.redis.zscore(set, 'acme')) !== null) found.push(set);
  }
  return found;
};

describe('everything', () => {
  it('tells what it removed and leaves no key of the tenant', async () => {
    const { queue, client, open, unopened } = await everywhere();
    expect(await traces(queue)).not.toEqual([]);
    expect(await client.purge('acme', 'everything')).toEqual({ ready: 3, delayed: 2, inFlight: 4, dead: 1 });
    expect(await traces(queue)).toEqual([]);
    for (const { leaseId } of [open, unopened]) expect(await keysOf(queue)).not.toContain(queue.keys.visit(leaseId));
    expect(await client.stats()).toMatchObject({
      ready: 2,
      delayed: 0,
      inFlight: 0,
      dead: 0,
      bytes: 2 * 'echo\n"123"'.length,
      visitsInFlight: 0,
      rotation: 1,
      waitingTenants: 1,
    });
    expect(await peekClock(queue.redis, queue.keys.clock)).toMatchObject({ servable: 2, weights: 1 });
    expect(await client.inspect('acme')).toMatchObject({ plan: 'free', served: 0, done: 0, enqueued: 0 });
  });

  it('makes late settles, opens and extends of its visits change nothing', async () => {
    const { queue, client, open, unopened } = await everywhere();
    await client.purge('acme', 'everything');
    expect(await client.settle(open, allGivenBack(open), { claimNext: true })).toEqual({ outcome: 'stale' });
    expect(await client.open(unopened, 'n')).toEqual({ outcome: 'gone' });
    expect(await client.extend(open)).toEqual({ outcome: 'stale' });
    expect(await client.release(unopened)).toEqual({ outcome: 'stale' });
    await pass(queue, 600_000);
    expect(await client.tick()).toMatchObject({ lapsed: 0, crashed: 0, promoted: 0 });
    expect(await traces(queue)).toEqual([]);
    expect((await client.stats()).late).toBe(1);
  });

  it('forgets its idempotency keys, however many, and those of nobody else', async () => {
    const queue = await testQueue();
    const { client, keys, redis } = queue;
    for (const tenant of ['acme', 'globex']) {
      await client.enqueue({ tenant, idempotencyKey: 'mine', jobs: newJobs(1) });
      const entries = Array.from({ length: 2_500 }, (_, i) => [`k:${i}`, `k:${i}\0${tenant}`] as const);
      await redis.hset(keys.once(tenant), Object.fromEntries(entries.map(([name]) => [name, 'answer'])));
      await redis.zadd(keys.onces, ...entries.flatMap(([, member]) => [Date.now() + 60_000, member]));
    }
    await client.purge('acme', 'everything');
    expect(await redis.exists(keys.once('acme'))).toBe(0);
    expect(await redis.zcard(keys.onces)).toBe(2_501);
    expect(await redis.hlen(keys.once('globex'))).toBe(2_501);
    expect(await client.enqueue({ tenant: 'acme', idempotencyKey: 'mine', jobs: newJobs(2) })).toMatchObject({
      outcome: 'accepted',
    });
  });

  it('of a tenant again, or of an unknown one, removes nothing', async () => {
    const { queue, client } = await everywhere();
    await client.purge('acme', 'everything');
    for (const tenant of ['acme', 'never']) {
      expect(await client.purge(tenant, 'everything')).toEqual({ ready: 0, delayed: 0, inFlight: 0, dead: 0 });
    }
    expect(await traces(queue)).toEqual([]);
    expect((await keysOf(queue)).filter((key) => key.endsWith(':never'))).toEqual([]);
  });

  it('touches no other tenant, however alike its name', async () => {
    const { client } = await testQueue();
    for (const tenant of ['a', 'a:', 'aa', 'ready:a', 'A']) await put(client, tenant, 2);
    const visits = await claimSome(client, 5);
    await client.purge('a', 'everything');
    for (const tenant of ['a:', 'aa', 'ready:a', 'A']) {
      expect(await client.inspect(tenant)).toMatchObject({ ready: 1, inFlight: 1, lanes: 1 });
    }
    const opened = await Promise.all(visits.map((lease) => client.open(lease, 'n')));
    expect(opened.map(({ outcome }) => outcome)).toEqual(['gone', 'opened', 'opened', 'opened', 'opened']);
  });

  it('frees the slots and wakes a dispatcher for those who wait', async () => {
    const { client, redis, keys } = await testQueue({ capacity: 1 });
    await put(client, 'acme', 5);
    await claimOne(client);
    await put(client, 'globex');
    await redis.del(keys.wake);
    await client.purge('acme', 'everything');
    expect(await redis.llen(keys.wake)).toBe(1);
    expect((await claimOne(client)).tenant).toBe('globex');
  });

  it('of the last tenant ends the busy period', async () => {
    const { client, redis, keys } = await testQueue();
    await put(client, 'acme', 5);
    await claimSome(client, 3);
    await client.purge('acme', 'everything');
    expect(await peekClock(redis, keys.clock)).toMatchObject({ v: 0, epoch: 1, servable: 0, weights: 0, bytes: 0 });
    await put(client, 'acme', 1);
    expect(payloads(await claimOne(client))).toEqual(['0']);
  });

  it('lifts a pause and a backoff with the rest', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await put(client, 'acme');
    for (let i = 0; i < 3; i++) {
      const [lease] = await claimSome(client, 1);
      if (lease) await client.release(lease);
    }
    await client.pause('acme');
    await client.purge('acme', 'everything');
    expect(await traces(queue)).toEqual([]);
    await put(client, 'acme');
    expect(await client.inspect('acme')).toMatchObject({ held: [], heldUntilMs: null, visitsAhead: 0 });
  });
});

describe('the waiting jobs', () => {
  it('go alone: visits, dead letters, record and counts stay', async () => {
    const { queue, client, open } = await everywhere();
    expect(await client.purge('acme', 'jobs')).toEqual({ ready: 3, delayed: 2, inFlight: 0, dead: 0 });
    expect(await client.inspect('acme')).toMatchObject({
      plan: 'growth',
      ready: 0,
      delayed: 0,
      inFlight: 4,
      dead: 1,
      bytes: 0,
      oldestReadySinceMs: null,
      visitsAhead: null,
    });
    const left = (await keysOf(queue)).filter((key) => key.endsWith(':acme'));
    expect(left).toEqual([queue.keys.dead('acme'), queue.keys.once('acme'), queue.keys.tenant('acme')].toSorted());
    expect(await client.stats()).toMatchObject({ ready: 2, delayed: 0, inFlight: 4, dead: 1, waitingTenants: 1 });
    expect(await client.settle(open, allGivenBack(open), { claimNext: false })).toEqual({ outcome: 'ended' });
    expect(await client.inspect('acme')).toMatchObject({
      ready: open.jobs.length,
      oldestReadySinceMs: expect.any(Number),
    });
  });

  it('leave nothing in the way of new ones', async () => {
    const { client } = await everywhere();
    await client.purge('globex', 'everything');
    await client.purge('acme', 'jobs');
    await put(client, 'acme', 2, { payload: '"new"' });
    expect(await client.inspect('acme')).toMatchObject({ ready: 2, delayed: 0 });
    expect(payloads(await claimOne(client))).toEqual(['"new"', '"new"']);
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  });

  it('of a tenant with nothing else leave it idle', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await learn(client, ['acme']);
    await put(client, 'acme', 3);
    await client.purge('acme', 'jobs');
    expect(await client.stats()).toMatchObject({ ready: 0, rotation: 0, waitingTenants: 0, virtualClock: 0 });
    await pass(queue, 120_000);
    expect(await client.tick()).toMatchObject({ purged: 1 });
    await put(client, 'acme', 1);
    const visit = await claimOne(client);
    expect(await client.settle(visit, allDone(visit), { claimNext: false })).toEqual({ outcome: 'ended' });
  });
});
