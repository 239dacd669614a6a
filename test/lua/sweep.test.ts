import { expect, it } from 'vitest';
import { watcherOf } from '../../functions/lib/queue/watcher.ts';
import { forVisits } from '../../functions/lib/queue/parts.ts';
import { checkInvariants } from '../support/invariants.ts';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { allGivenBack, claimSome, learn, put } from '../support/visits.ts';

/** A queue with jobs of every state, of tenants in every state. */
async function fullQueue(): Promise<TestQueue> {
  const queue = await testQueue();
  const { client } = queue;
  await learn(client, ['a', 'b', 'idle']);
  await put(client, 'a', 30);
  await put(client, 'a', 2, { delayMs: 60_000 });
  await put(client, 'b', 5);
  await put(client, 'paused', 3);
  await client.pause('paused');
  const [back, dying] = [await claimOne(client), await claimOne(client)];
  await client.settle(back, allGivenBack(back), { claimNext: false });
  await client.settle(dying, [{ index: 1, result: 'dead', durationMs: 1, error: '' }], { claimNext: false });
  await claimSome(client, 1);
  return queue;
}

const sweep = (queue: TestQueue, names: readonly string[], totals: boolean) =>
  watcherOf(queue.client).sweep(names, totals);
const NAMES = ['a', 'b', 'paused', 'idle', 'unknown'];

/** Runs Lua with the shared parts of the scripts before it: what a fault of some script might do. */
const meddle = ({ redis, keys }: TestQueue, lua: string) =>
  redis.call('eval', ['#!lua', ...forVisits, lua, 'return 1'].join('\n'), 1, keys.prefix);

const setting = (tenant: string, change: string) =>
  `local t = tenant('${tenant}') ${change} redis.call('SET', tenantKey(t.name), packTenant(t))`;

it('finds nothing in a queue that nobody meddled with, and writes nothing', async () => {
  const queue = await fullQueue();
  const before = await snapshot(queue);
  expect(await sweep(queue, NAMES, true)).toMatchObject({ tenants: 4, differences: [] });
  expect(await snapshot(queue)).toEqual(before);
});

it('leaves a tenant in the rotation whose cap a deploy has lowered meanwhile', async () => {
  const queue = await fullQueue();
  const plans = { free: { weight: 1, maxDepth: 5_000, maxConcurrency: 1 } };
  await queue.client.configure({ ...testConfig(), version: 2, plans });
  const before = await snapshot(queue);
  expect(await sweep(queue, NAMES, true)).toMatchObject({ differences: [] });
  expect(await snapshot(queue)).toEqual(before);
});

it.each([
  ['ready', 'a', setting('a', 't.ready = t.ready + 7')],
  ['ready', 'b', "redis.call('DEL', readyKey('b'))"],
  ['back', 'b', setting('b', 't.back = 2')],
  ['delayed', 'a', setting('a', 't.delayed = 0')],
  ['bytes', 'a', setting('a', 't.bytes = 12345')],
  ['dead', 'b', "redis.call('DEL', deadKey('b'))"],
  ['flight', 'a', setting('a', 't.flight = t.flight + 1')],
  ['flight', 'idle', setting('idle', 't.flight = 3')],
  ['lanes', 'b', setting('b', 't.lanes = 9')],
  ['rotation', 'a', "redis.call('ZREM', key.rotation, member(tenant('a')))"],
  ['depths', 'paused', "redis.call('ZREM', key.depths, 'paused')"],
  ['depths', 'idle', "redis.call('ZADD', key.depths, 1, 'idle')"],
  ['oldest', 'b', "redis.call('ZADD', key.oldest, 1, 'b')"],
  ['due', 'a', "redis.call('ZREM', key.due, 'a')"],
  ['idle', 'idle', "redis.call('ZREM', key.idle, 'idle')"],
])('finds a wrong %s of tenant %s and puts it right', async (counter, tenant, lua) => {
  const queue = await fullQueue();
  await meddle(queue, lua);
  expect(await checkInvariants(queue.redis, queue.name)).not.toEqual([]);
  const { differences } = await sweep(queue, NAMES, true);
  expect(differences).toContainEqual(expect.objectContaining({ tenant, counter }));
  expect(await checkInvariants(queue.redis, queue.name)).toEqual([]);
  expect(await sweep(queue, NAMES, true)).toMatchObject({ differences: [] });
});

it.each([
  ['flight', 'totals.flight = totals.flight + 2'],
  ['ready', 'totals.ready = 0'],
  ['delayed', 'totals.delayed = 9'],
  ['bytes', 'totals.bytes = 1'],
  ['servable', 'clock.servable = 1'],
])('finds a wrong sum of %s and puts it right', async (counter, lua) => {
  const queue = await fullQueue();
  await meddle(queue, `${lua} saveClock()`);
  const { differences } = await sweep(queue, [], true);
  expect(differences).toEqual([expect.objectContaining({ tenant: null, counter })]);
  expect(await checkInvariants(queue.redis, queue.name)).toEqual([]);
});

it('counts what it has put right, and nothing else', async () => {
  const queue = await fullQueue();
  expect(await sweep(queue, NAMES, true)).toMatchObject({ repaired: 0 });
  await meddle(queue, "redis.call('ZREM', key.depths, 'a') redis.call('ZREM', key.oldest, 'b')");
  expect(await sweep(queue, NAMES, true)).toMatchObject({ repaired: 2 });
  expect(await sweep(queue, NAMES, true)).toMatchObject({ repaired: 2 });
});

it('lets work go on that a wrong counter had stopped', async () => {
  const queue = await testQueue();
  await put(queue.client, 'a', 2);
  await meddle(queue, "redis.call('ZREM', key.rotation, member(tenant('a')))");
  expect(await queue.client.claim(1)).toMatchObject({ outcome: 'empty' });
  await sweep(queue, ['a'], false);
  expect(await queue.client.claim(1)).toMatchObject({ outcome: 'claimed' });
});

it('tells what was kept and what there is, and where an entry is missing', async () => {
  const queue = await testQueue();
  await put(queue.client, 'a', 2);
  await meddle(queue, `redis.call('ZREM', key.depths, 'a') ${setting('a', 't.flight = 5')}`);
  const { differences } = await sweep(queue, ['a'], false);
  expect(differences).toEqual([
    { tenant: 'a', counter: 'flight', kept: 5, counted: 0 },
    { tenant: 'a', counter: 'depths', kept: -1, counted: 2 },
    { tenant: null, counter: 'flight', kept: -5, counted: 0 },
  ]);
});
