import { expect, it } from 'vitest';
import { rotationOf, snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { allDone, claimSome, learn, put } from '../support/visits.ts';

it('ranks the record’s overrides before its plan, that before the claim’s, that before the default', async () => {
  const { client } = await testQueue();
  const limits = async () => {
    const { plan, weight, maxDepth, maxConcurrency } = await client.inspect('acme');
    return [plan, weight, maxDepth, maxConcurrency];
  };
  expect(await limits()).toEqual(['free', 1, 5_000, 50]);
  await client.enqueue({ tenant: 'acme', claimPlan: 'growth', jobs: newJobs(1) });
  expect(await limits()).toEqual(['growth', 3, 100_000, 50]);
  await client.subscribe('acme', { plan: 'enterprise' });
  expect(await limits()).toEqual(['enterprise', 8, 500_000, 50]);
  await client.subscribe('acme', { plan: 'enterprise', weight: 0.25, maxConcurrency: 0 });
  expect(await limits()).toEqual(['enterprise', 0.25, 500_000, 0]);
  await client.subscribe('acme', { maxDepth: 2 });
  expect(await limits()).toEqual(['growth', 3, 2, 50]);
  // The whole record is replaced: what it does not say any more, it does not say.
  await client.subscribe('acme', {});
  expect(await limits()).toEqual(['growth', 3, 100_000, 50]);
});

it('shows the record as it was put', async () => {
  const { client } = await testQueue();
  const caps = { maxDepth: 0, maxConcurrency: 7, maxBytes: 0, maxJobsPerSecond: 0.25, burst: 9 };
  const record = { plan: 'growth', weight: 1.5, ...caps };
  await client.subscribe('acme', record);
  expect((await client.inspect('acme')).record).toEqual(record);
  await client.subscribe('acme', { maxDepth: 12 });
  expect((await client.inspect('acme')).record).toEqual({
    plan: null,
    weight: null,
    maxDepth: 12,
    maxConcurrency: null,
    maxBytes: null,
    maxJobsPerSecond: null,
    burst: null,
  });
});

it('refuses an unknown plan, lists those there are and writes nothing', async () => {
  const queue = await testQueue();
  const before = await snapshot(queue);
  const answer = await queue.client.subscribe('acme', { plan: 'gold', weight: 2 });
  if (answer.outcome !== 'unknown_plan') throw new Error(answer.outcome);
  expect(answer.plans.toSorted()).toEqual(['enterprise', 'free', 'growth']);
  expect(await snapshot(queue)).toEqual(before);
});

it('acts on the backlog at once: what is ahead of the clock is rescaled, the rank among equals stays', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'clock', 3);
  await put(client, 'acme', 2, { cost: 24 });
  await put(client, 'b', 2, { cost: 3 });
  await claimSome(client, 3);
  const before = await rotationOf(queue);
  expect(before.map(({ tenant, turn }) => [tenant, turn])).toEqual([
    ['clock', 1],
    ['b', 3],
    ['acme', 24],
  ]);
  await client.subscribe('acme', { weight: 8 });
  const after = await rotationOf(queue);
  expect(after.map(({ tenant, turn }) => [tenant, turn])).toEqual([
    ['clock', 1],
    // Equal now, and acme was visited before b.
    ['acme', 3],
    ['b', 3],
  ]);
  expect(after.find(({ tenant }) => tenant === 'acme')?.sequence).toBe(
    before.find(({ tenant }) => tenant === 'acme')?.sequence,
  );
  // With the clock at 1, 2 ahead of it at weight 8 is 16 at weight 1.
  await claimSome(client, 1);
  await client.subscribe('acme', { weight: 1 });
  expect((await rotationOf(queue)).find(({ tenant }) => tenant === 'acme')?.turn).toBe(17);
});

it('keeps the sum of weights right through it', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 2);
  await put(client, 'b', 2);
  await client.subscribe('acme', { weight: 4 });
  expect((await client.inspect('b')).rate.weightShare).toBe(1 / 5);
  expect((await client.inspect('acme')).rate.weightShare).toBe(4 / 5);
  await client.subscribe('acme', { weight: 1 });
  expect((await client.inspect('idle')).rate.weightShare).toBe(1 / 3);
});

it('takes a tenant out at once when its cap is lowered, and in when it is raised', async () => {
  const { client } = await testQueue();
  await learn(client, ['acme']);
  await put(client, 'acme', 40);
  const visits = [await claimOne(client), await claimOne(client)];
  await client.subscribe('acme', { maxConcurrency: 2 });
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  await client.subscribe('acme', { maxConcurrency: 1 });
  const [first, second] = visits;
  if (!first || !second) return;
  await client.settle(first, allDone(first), { claimNext: false });
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  await client.settle(second, allDone(second), { claimNext: false });
  expect(await claimSome(client, 5)).toHaveLength(1);
  await client.subscribe('acme', { maxConcurrency: 3 });
  expect(await claimSome(client, 5)).toHaveLength(2);
  await client.subscribe('acme', { maxConcurrency: 0 });
  expect(await client.inspect('acme')).toMatchObject({ held: ['concurrency'], visitsAhead: null });
});

it('lowers the depth cap at once and refuses until there is room', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 5);
  await client.subscribe('acme', { maxDepth: 5 });
  expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ outcome: 'full', limit: 5 });
  await client.subscribe('acme', { maxDepth: 0 });
  expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({
    outcome: 'full',
    limit: 0,
    room: 0,
  });
});

it('wakes a dispatcher, and asks for one, when it lets a tenant in', async () => {
  const { client, redis, keys } = await testQueue();
  await client.subscribe('acme', { maxConcurrency: 0 });
  await put(client, 'acme');
  // A dispatcher was woken to look again at what may be let in by a deploy.
  await redis.del(keys.wake);
  expect(await client.subscribe('acme', { maxConcurrency: 1 })).toEqual({ outcome: 'subscribed', dispatch: true });
  expect(await redis.llen(keys.wake)).toBe(1);
  expect(await client.subscribe('acme', { maxConcurrency: 2 })).toEqual({ outcome: 'subscribed', dispatch: false });
});
