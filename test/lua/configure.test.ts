import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';
import { allDone, claimSome, learn, put } from '../support/visits.ts';

const plans = (weight: number, maxDepth = 100, maxConcurrency = 50) => ({ free: { weight, maxDepth, maxConcurrency } });

it('never falls back to an older version, and leaves everything as it is then', async () => {
  const queue = await testQueue();
  const { client } = queue;
  expect(await client.configure(testConfig({ version: 7, capacity: 3 }))).toBe('configured');
  const before = await snapshot(queue);
  expect(await client.configure(testConfig({ version: 6, capacity: 99 }))).toBe('kept');
  expect(await snapshot(queue)).toEqual(before);
  expect(await client.stats()).toMatchObject({ capacity: 3 });
  expect(await client.configure(testConfig({ version: 7, capacity: 4 }))).toBe('configured');
  expect(await client.stats()).toMatchObject({ capacity: 4 });
});

it('ends with the newest version, in whatever order many deploys write', async () => {
  const { client } = await testQueue();
  const versions = Array.from({ length: 30 }, (_, i) => ((i * 7) % 30) + 1);
  const dates = 1.7e12;
  await Promise.all(
    versions.map((version) => client.configure(testConfig({ version: dates + version, capacity: version }))),
  );
  expect(await client.stats()).toMatchObject({ capacity: 30 });
});

it('holds every bound as it was given, fractions included', async () => {
  const { client } = await testQueue({
    plans: { free: { weight: 0.1, maxDepth: 7, maxConcurrency: 3 } },
    quantum: 2.5,
    leaseMs: 12_345,
    openMs: 6_789,
  });
  expect(await client.inspect('acme')).toMatchObject({ plan: 'free', weight: 0.1, maxDepth: 7, maxConcurrency: 3 });
  await put(client, 'acme');
  const claimed = await client.claim(1);
  expect(claimed.nextDueMs).toBe(claimed.nowMs + 6_789);
  await put(client, 'acme');
  const visit = await claimOne(client);
  expect(visit.expiresAtMs).toBe(visit.nowMs + 12_345);
});

it('wakes a dispatcher when a raised capacity makes a visit possible, and only then', async () => {
  const { client, redis, keys } = await testQueue({ capacity: 1 });
  await put(client, 'acme', 3);
  await claimOne(client);
  await redis.del(keys.wake);
  await client.configure(testConfig({ capacity: 1 }));
  expect(await redis.llen(keys.wake)).toBe(0);
  await client.configure(testConfig({ capacity: 2 }));
  expect(await redis.llen(keys.wake)).toBe(1);
});

it('leaves the overrides of run time alone', async () => {
  const { client, redis, keys } = await testQueue();
  await redis.hset(keys.config, 'capacity', 5, 'paused', '1');
  await client.configure(testConfig({ version: 2, capacity: 9 }));
  expect(await client.stats()).toMatchObject({ capacity: 5, paused: true });
});

it('lets a changed plan act on the backlog from the next visit on', async () => {
  const { client, redis, keys } = await testQueue({ plans: plans(1), capacity: 1_000 });
  await learn(client, ['acme', 'globex']);
  await client.subscribe('globex', { weight: 1 });
  await put(client, 'acme', 90);
  await put(client, 'globex', 90);
  expect((await claimSome(client, 2)).map(({ jobs }) => jobs)).toEqual([4, 4]);
  await client.configure(testConfig({ plans: plans(5), capacity: 1_000 }));
  expect((await claimSome(client, 4)).map(({ tenant, jobs }) => [tenant, jobs])).toEqual([
    ['acme', 20],
    ['globex', 4],
    ['acme', 20],
    ['globex', 4],
  ]);
  expect((await peekTenant(redis, keys.tenant('acme')))?.turn).toBe(12);
  await client.configure(testConfig({ plans: plans(5, 3) }));
  expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({
    outcome: 'full',
    limit: 3,
    room: 0,
  });
});

it('passes over a plan that is no longer there, in record and claim', async () => {
  const { client } = await testQueue();
  await client.subscribe('acme', { plan: 'enterprise', maxDepth: 9 });
  await client.enqueue({ tenant: 'acme', claimPlan: 'growth', jobs: newJobs(2) });
  expect(await client.inspect('acme')).toMatchObject({ plan: 'enterprise', weight: 8, maxDepth: 9 });
  const { growth, free } = testConfig().plans;
  if (!growth || !free) throw new Error('the fixture has lost its plans');
  await client.configure(testConfig({ plans: { growth, free } }));
  expect(await client.inspect('acme')).toMatchObject({
    plan: 'growth',
    weight: 3,
    maxDepth: 9,
    record: { plan: 'enterprise' },
  });
  await client.configure(testConfig({ plans: { free } }));
  expect(await client.inspect('acme')).toMatchObject({ plan: 'free', weight: 1, maxDepth: 9 });
  expect(await client.enqueue({ tenant: 'b', claimPlan: 'growth', jobs: newJobs(1) })).toEqual({
    outcome: 'unknown_plan',
    plans: ['free'],
  });
  const visit = await claimOne(client);
  await client.settle(visit, allDone(visit), { claimNext: false });
  await client.configure(testConfig());
  expect(await client.inspect('acme')).toMatchObject({ plan: 'enterprise', weight: 8 });
});
