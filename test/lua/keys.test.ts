import { expect, it } from 'vitest';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { keysOf } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { allGivenBack, claimSome, put } from '../support/visits.ts';

const ODD = ['a:b{c}|*%', '🦊', '0', 'x'.repeat(128), '}', '{rota:q:0}:v1:', ' ', 'tenant:acme'];
const PER_TENANT = ['tenant', 'record', 'ready', 'returned', 'delayed', 'dead', 'once'] as const;

it('are these', () => {
  const keys = queueKeys('q', 0);
  expect(keys.prefix).toBe('{rota:q:0}:v1:');
  const named = Object.values(keys).filter((key) => typeof key === 'string');
  expect(named.map((key) => key.slice(keys.prefix.length))).toEqual([
    '',
    'config',
    'clock',
    'totals',
    'rotation',
    'due',
    'held',
    'opening',
    'visits',
    'depths',
    'oldest',
    'idle',
    'onces',
    'wake',
    'dispatcher',
    'monitor',
    'withdrawn',
  ]);
  expect(PER_TENANT.map((kind) => keys[kind]('acme'))).toEqual([
    '{rota:q:0}:v1:tenant:acme',
    '{rota:q:0}:v1:record:acme',
    '{rota:q:0}:v1:ready:acme',
    '{rota:q:0}:v1:returned:acme',
    '{rota:q:0}:v1:delayed:acme',
    '{rota:q:0}:v1:dead:acme',
    '{rota:q:0}:v1:once:acme',
  ]);
  expect(keys.visit('0-1f')).toBe('{rota:q:0}:v1:visit:0-1f');
});

it('are different for different tenants, kinds, queues and shards, whatever the tenant is called', () => {
  const all = [
    ['q', 0],
    ['q', 1],
    ['q1', 0],
  ].flatMap(([queue, shard]) => {
    const keys = queueKeys(String(queue), Number(shard));
    const named = Object.values(keys).filter((key) => typeof key === 'string');
    return [
      ...named,
      ...ODD.flatMap((tenant) => [...PER_TENANT.map((kind) => keys[kind](tenant)), keys.visit(tenant)]),
    ];
  });
  expect(new Set(all).size).toBe(all.length);
});

it('are the keys that the scripts make', async () => {
  const queue = await testQueue();
  const { client, keys, redis } = queue;
  const expected = new Set([keys.config, keys.clock, keys.rotation, keys.due, keys.held, keys.opening, keys.visits]);
  for (const key of [keys.depths, keys.oldest, keys.onces, keys.idle, keys.wake, keys.dispatcher]) expected.add(key);
  for (const tenant of ODD) {
    await client.enqueue({ tenant, idempotencyKey: 'k', jobs: newJobs(2) });
    await put(client, tenant, 1, { delayMs: 60_000 });
    await put(client, tenant, 2);
    const visit = await claimOne(client);
    expect(visit.tenant).toBe(tenant);
    await client.settle(visit, [{ index: 1, result: 'dead', durationMs: 9_000, error: '' }], { claimNext: false });
    const back = await claimOne(client);
    await client.settle(back, allGivenBack(back), { claimNext: false });
    await client.subscribe(tenant, { maxBytes: 1_000_000 });
    await client.pause(tenant);
    for (const kind of PER_TENANT) expected.add(keys[kind](tenant));
  }
  for (const tenant of ODD) await client.resume(tenant);
  const [unopened] = await claimSome(client, 1);
  const open = await claimOne(client);
  for (const leaseId of [unopened?.leaseId, open.leaseId]) expected.add(keys.visit(leaseId ?? ''));
  // Nothing to visit at all for one tenant, and one that is idle.
  await put(client, 'held');
  await client.subscribe('held', { maxConcurrency: 0 });
  for (const kind of ['tenant', 'ready', 'once'] as const) expected.add(keys[kind]('held'));
  await client.resume('idle');
  expected.add(keys.tenant('idle'));
  const returned = (key: string) => key.startsWith(keys.returned(''));
  const made = await keysOf(queue);
  // The visits at the end took up what had come back for two of the tenants.
  expect(made.filter((key) => !returned(key))).toEqual([...expected].filter((key) => !returned(key)).toSorted());
  for (const key of made.filter(returned)) expect(expected).toContain(key);
  expect(made.filter(returned)).toHaveLength(ODD.length - 2);
  for (const key of made.filter((each) => each !== keys.dispatcher)) expect(await redis.pttl(key)).toBe(-1);
});

it('lie in one slot of a cluster, odd tenants’ too', async () => {
  const { redis, keys } = await testQueue();
  const slots = new Set<unknown>();
  for (const key of [keys.config, ...ODD.flatMap((tenant) => PER_TENANT.map((kind) => keys[kind](tenant)))]) {
    slots.add(await redis.cluster('KEYSLOT', key));
  }
  expect(slots.size).toBe(1);
});
