import { describe, expect, it } from 'vitest';
import type { ClaimedVisit } from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { rotationOf, snapshot } from '../support/keyspace.ts';
import { peekClock, peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJob, newJobs } from '../support/queue-fixture.ts';
import { allDone, allGivenBack, claimSome, learn, openLease, payloads, put } from '../support/visits.ts';

const names = (visits: readonly ClaimedVisit[]) => visits.map(({ tenant }) => tenant);
const sizes = (visits: readonly ClaimedVisit[]) => visits.map(({ jobs }) => jobs);
const shapes = (visits: readonly ClaimedVisit[]) => visits.map(({ tenant, jobs, lanes }) => [tenant, jobs, lanes]);
const sizesOf = (visits: readonly ClaimedVisit[], tenant: string) =>
  sizes(visits.filter((visit) => visit.tenant === tenant));
const plan = (weight: number, maxConcurrency = 1_000) => ({ weight, maxDepth: 100_000, maxConcurrency });
const wide = { capacity: 1_000, plans: { free: plan(1), growth: plan(3), enterprise: plan(8) } };

describe('the fair order', () => {
  it('goes round tenants of different weights in visits of quantum times weight', async () => {
    const { client } = await testQueue(wide);
    for (const tenant of ['enterprise', 'growth', 'free']) await client.subscribe(tenant, { plan: tenant });
    await learn(client, ['enterprise', 'growth', 'free']);
    for (const tenant of ['enterprise', 'growth', 'free']) await put(client, tenant, 400);
    const visits = await claimSome(client, 30);
    expect(names(visits)).toEqual(Array.from({ length: 10 }, () => ['enterprise', 'growth', 'free']).flat());
    expect(sizesOf(visits, 'enterprise')).toEqual(Array(10).fill(32));
    expect(sizesOf(visits, 'growth')).toEqual(Array(10).fill(12));
    expect(sizesOf(visits, 'free')).toEqual(Array(10).fill(4));
  });

  it('keeps the weights by how often a tenant is visited when its jobs are slow', async () => {
    const { client } = await testQueue(wide);
    for (const tenant of ['enterprise', 'growth', 'free']) await client.subscribe(tenant, { plan: tenant });
    await learn(client, ['enterprise', 'growth', 'free'], 30_000);
    for (const tenant of ['enterprise', 'growth', 'free']) await put(client, tenant, 60);
    const visits = await claimSome(client, 48);
    expect(sizesOf(visits, 'enterprise')).toEqual(Array(32).fill(1));
    expect(sizesOf(visits, 'growth')).toEqual(Array(12).fill(1));
    expect(sizesOf(visits, 'free')).toEqual(Array(4).fill(1));
  });

  it('holds for weights that are fractions, and charges what was taken by the weight', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await client.subscribe('tenth', { weight: 0.1 });
    await learn(client, ['tenth', 'one']);
    await put(client, 'tenth', 10);
    await put(client, 'one', 100);
    const visits = await claimSome(client, 7);
    // A budget of 0.4 still takes one job; it costs 10 of virtual time, in which the other has 10 jobs and more.
    expect(names(visits)).toEqual(['tenth', 'one', 'one', 'one', 'tenth', 'one', 'one']);
    expect(sizesOf(visits, 'tenth')).toEqual([1, 1]);
    expect(sizesOf(visits, 'one')).toEqual([4, 4, 4, 4, 4]);
    expect((await rotationOf(queue)).map(({ tenant, turn }) => [tenant, turn])).toEqual([
      ['tenth', 20],
      ['one', 20],
    ]);
  });

  it('serves equal turns first come, first served, whatever their names', async () => {
    const { client } = await testQueue();
    for (const tenant of ['z', 'm', 'a', '0']) await put(client, tenant);
    expect(names(await claimSome(client, 4))).toEqual(['z', 'm', 'a', '0']);
  });

  it('does not starve the highest name under a stream of lower ones', async () => {
    const { client } = await testQueue(wide);
    for (let i = 0; i < 3; i++) await put(client, `b${i}`);
    await put(client, 'zzz');
    const visited: string[] = [];
    for (let i = 0; i < 6; i++) {
      await put(client, `a${i}`);
      visited.push(...names(await claimSome(client, 1)));
    }
    expect(visited).toEqual(['b0', 'b1', 'b2', 'zzz', 'a0', 'a1']);
  });

  it('puts a tenant that stays behind those that share its turn', async () => {
    const { client } = await testQueue(wide);
    await learn(client, ['b', 'a'], 10);
    await put(client, 'c', 1, { cost: 4 });
    await put(client, 'b', 12);
    await put(client, 'a', 12);
    expect(names(await claimSome(client, 1))).toEqual(['c']);
    // It comes back at 4, before the others get there.
    await put(client, 'c', 1, { cost: 4 });
    expect(names(await claimSome(client, 6))).toEqual(['b', 'a', 'c', 'b', 'a', 'b']);
  });

  it('is the same for many visits in one call as for one a call', async () => {
    const [one, many] = [await testQueue(wide), await testQueue(wide)];
    for (const { client } of [one, many]) {
      await client.subscribe('b', { weight: 2.5 });
      await learn(client, ['a', 'b', 'c']);
      await put(client, 'a', 30);
      await put(client, 'b', 30, { cost: 1.5 });
      await put(client, 'c', 7);
    }
    const single: ClaimedVisit[] = [];
    for (let i = 0; i < 12; i++) single.push(...(await claimSome(one.client, 1)));
    const batch = await claimSome(many.client, 12);
    expect(shapes(batch)).toEqual(shapes(single));
    expect(new Set(names(batch.slice(0, 3)))).toEqual(new Set(['a', 'b', 'c']));
    expect(await rotationOf(many)).toEqual(await rotationOf(one));
  });

  it('never lets the virtual clock fall, and starts a new one when the last job has gone', async () => {
    const { client, redis, keys } = await testQueue();
    await put(client, 'a', 3);
    await put(client, 'b', 3);
    const clocks: number[] = [];
    for (let i = 0; i < 6; i++) {
      const visit = await claimOne(client);
      clocks.push((await peekClock(redis, keys.clock)).v);
      await client.settle(visit, allDone(visit, 60_000), { claimNext: false });
    }
    expect(clocks).toEqual([0, 0, 1, 1, 2, 2]);
    expect(await peekClock(redis, keys.clock)).toMatchObject({ v: 0, epoch: 1, servable: 0, weights: 0 });
    // Turns of the old busy period are void.
    await put(client, 'a');
    expect(await peekTenant(redis, keys.tenant('a'))).toMatchObject({ turn: 0 });
  });

  it('does not end the busy period while jobs are delayed or in flight', async () => {
    const { client, redis, keys } = await testQueue();
    await put(client, 'a', 2);
    await put(client, 'b', 1, { delayMs: 60_000 });
    for (let i = 0; i < 2; i++) {
      const visit = await claimOne(client);
      await client.settle(visit, allDone(visit), { claimNext: false });
    }
    expect(await peekClock(redis, keys.clock)).toMatchObject({ v: 1, epoch: 0 });
  });
});

describe('a visit', () => {
  it('takes one job while nobody knows how long the tenant’s jobs take', async () => {
    const { client } = await testQueue({ capacity: 1 });
    await put(client, 'acme', 10);
    expect(sizes(await claimSome(client, 1))).toEqual([1]);
  });

  it.each([
    [1, 1_000, 5],
    [1, 1_001, 4],
    [1, 5_000, 1],
    [1, 5_001, 1],
    [1, 90_000, 1],
    [1, 0, 1_000],
    [2, 1_000, 10],
    [4, 3_000, 6],
    [4, 5_000, 4],
    [4, 5_001, 1],
  ])('is expected to last 5 s at most: %i lanes, p95 %i ms, %i jobs', async (visitConcurrency, p95, jobs) => {
    const { client } = await testQueue({ capacity: 1, visitConcurrency, quantum: 5_000 });
    await learn(client, ['acme'], p95);
    await put(client, 'acme', 500);
    await put(client, 'acme', 500);
    await put(client, 'acme', 500);
    expect(sizes(await claimSome(client, 1))).toEqual([jobs]);
  });

  it.each([
    // 50 jobs over 10 free slots, but for jobs that take less than 1 s together.
    [10, 500, 50, 5],
    [10, 1_000, 50, 5],
    [10, 2_000, 50, 2],
    [10, 10, 50, 50],
    [10, 100, 50, 9],
    [10, 101, 50, 9],
    [10, 100, 200, 20],
    [10, 999, 5, 1],
    [3, 500, 7, 3],
  ])('is spread over free slots: %i free, p95 %i ms, %i servable, %i jobs', async (capacity, p95, servable, jobs) => {
    const { client } = await testQueue({ capacity, quantum: 5_000 });
    await learn(client, ['acme'], p95);
    await put(client, 'acme', servable);
    expect(sizes(await claimSome(client, 1))).toEqual([jobs]);
  });

  it('counts as servable what others in the rotation have, not what is held back', async () => {
    const { client } = await testQueue({ capacity: 10, quantum: 5_000 });
    await learn(client, ['acme', 'paused'], 400);
    await put(client, 'paused', 500);
    await client.pause('paused');
    await put(client, 'paused', 500);
    await put(client, 'acme', 10);
    await put(client, 'other', 20);
    expect(sizes(await claimSome(client, 1))).toEqual([3]);
  });

  it('ends before the job that the budget does not cover, but takes at least one', async () => {
    const { client, redis, keys } = await testQueue({ capacity: 1_000 });
    await learn(client, ['acme', 'dear']);
    await client.enqueue({ tenant: 'acme', jobs: [3, 1, 0.5, 4, 4.5, 1].map((cost) => newJob({ cost })) });
    await put(client, 'dear', 2, { cost: 1_000 });
    expect(sizesOf(await claimSome(client, 2), 'acme')).toEqual([2]);
    expect(await peekTenant(redis, keys.tenant('dear'))).toMatchObject({ turn: 1_000, ready: 1 });
    expect(sizes(await claimSome(client, 4))).toEqual([1, 1, 1, 1]);
    expect(await peekTenant(redis, keys.tenant('acme'))).toMatchObject({ turn: 14, ready: 0 });
  });

  it('carries 4 MiB of payload at most', async () => {
    const { client } = await testQueue({ quantum: 1_000 });
    await learn(client, ['acme'], 1);
    const payload = JSON.stringify('x'.repeat(262_142));
    for (let i = 0; i < 17; i++) await put(client, 'acme', 1, { payload });
    const body = 'echo\n'.length + payload.length;
    expect(sizes(await claimSome(client, 1))).toEqual([Math.floor((4 * 1024 * 1024) / body)]);
  });

  it('takes jobs in the order in which they came', async () => {
    const { client } = await testQueue({ quantum: 100 });
    await learn(client, ['acme'], 1);
    await put(client, 'acme', 70);
    await client.enqueue({ tenant: 'acme', jobs: [newJob({ payload: '"last"' })] });
    expect(payloads(await claimOne(client))).toEqual([...Array.from({ length: 70 }, (_, i) => String(i)), '"last"']);
  });

  it('takes what came back first, then what waits, in one visit', async () => {
    const { client } = await testQueue({ quantum: 100 });
    await learn(client, ['acme'], 1);
    await put(client, 'acme', 3);
    const visit = await claimOne(client);
    await put(client, 'acme', 2, { payload: '"new"' });
    await client.settle(visit, allGivenBack(visit).toReversed(), { claimNext: false });
    expect(payloads(await claimOne(client))).toEqual(['0', '1', '2', '"new"', '"new"']);
  });
});

it('hands no job to two of 40 racing claims of two clients', async () => {
  const queue = await testQueue(wide);
  const other = createQueueClient({ redis: queue.connect(), queue: queue.name, shard: 0 });
  await learn(queue.client, ['acme']);
  await put(queue.client, 'acme', 400);
  const claims = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? queue.client : other).claim(3)));
  const leases = claims.flatMap(({ visits }) => visits);
  expect(new Set(leases.map(({ leaseId }) => leaseId)).size).toBe(100);
  const jobs = (await Promise.all(leases.map((lease) => openLease(queue.client, lease)))).flatMap(
    (visit) => visit.jobs,
  );
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(400);
  expect(jobs).toHaveLength(400);
  await other.close();
});

it('writes nothing when it claims nothing', async () => {
  const queue = await testQueue({ capacity: 1 });
  const { client, redis, keys } = queue;
  const unchanged = async (outcome: string) => {
    const before = await snapshot(queue);
    expect((await client.claim(5)).outcome).toBe(outcome);
    expect(await snapshot(queue)).toEqual(before);
  };
  await learn(client, ['acme']);
  await unchanged('empty');
  await put(client, 'acme', 5);
  await claimSome(client, 1);
  await unchanged('no_capacity');
  await redis.hset(keys.config, 'paused', '1');
  await unchanged('paused');
});

it('tells what is in flight and in the rotation, and when something falls due', async () => {
  const queue = await testQueue();
  const { client } = queue;
  expect(await client.claim(1)).toMatchObject({ inFlight: 0, rotation: 0, nextDueMs: null });
  await put(client, 'late', 1, { delayMs: 50_000 });
  const delayed = await client.claim(1);
  expect((delayed.nextDueMs ?? 0) - delayed.nowMs).toBeLessThanOrEqual(50_000);
  expect((delayed.nextDueMs ?? 0) - delayed.nowMs).toBeGreaterThan(40_000);
  await put(client, 'a', 2);
  await put(client, 'b', 1);
  const claimed = await client.claim(2);
  expect(claimed).toMatchObject({ inFlight: 2, rotation: 1 });
  // The leases lapse before the delayed job is due.
  expect(claimed.nextDueMs).toBe(claimed.nowMs + 20_000);
  for (const lease of claimed.visits) await openLease(client, lease);
  const open = await client.claim(1);
  expect(open.nextDueMs).toBe(open.nowMs + 20_000);
});

it('gives leases that nobody can guess from one another', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 20);
  const visits = await claimSome(client, 20);
  for (const { leaseId, token } of visits) {
    expect(leaseId).toMatch(/^0-[0-9a-f]{16}$/);
    expect(token).toMatch(/^[0-9a-f]{24}$/);
  }
  expect(new Set(visits.map(({ token }) => token)).size).toBe(20);
});

it('passes over a tenant whose jobs somebody deleted by hand, and serves it again when it has new ones', async () => {
  const { client, redis, keys } = await testQueue();
  await client.enqueue({ tenant: 'emptied', jobs: newJobs(40) });
  await client.enqueue({ tenant: 'acme', jobs: newJobs(1) });
  await redis.del(keys.ready('emptied'));
  expect((await claimOne(client)).tenant).toBe('acme');
  expect(await client.inspect('emptied')).toMatchObject({ ready: 0, visitsAhead: null });
  await client.enqueue({ tenant: 'emptied', jobs: newJobs(1) });
  expect((await claimOne(client)).tenant).toBe('emptied');
});

it('serves what is left of a tenant some of whose jobs somebody deleted by hand', async () => {
  const { client, redis, keys } = await testQueue();
  await client.enqueue({ tenant: 'acme', jobs: newJobs(3) });
  await redis.ltrim(keys.ready('acme'), 2, -1);
  const visit = await claimOne(client);
  expect(visit.jobs.map(({ payload }) => payload)).toEqual(['2']);
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  expect(await client.settle(visit, [{ index: 1, result: 'done', durationMs: 1 }], { claimNext: true })).toEqual({
    outcome: 'ended',
  });
  // Bytes of the deleted jobs stay counted: nobody knows how many they were.
  await client.purge('acme', 'everything');
});
