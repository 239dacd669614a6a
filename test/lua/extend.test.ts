import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, claimSome, pass, put } from '../support/visits.ts';

it('renews an open lease for a full lease time from now', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 1);
  const visit = await claimOne(client);
  for (let i = 0; i < 3; i++) {
    await pass(queue, 50_000);
    const extended = await client.extend(visit);
    expect(extended).toMatchObject({ outcome: 'extended', yield: false });
    expect(extended.outcome === 'extended' && extended.expiresAtMs).toBeGreaterThanOrEqual(visit.nowMs + 60_000);
    expect(await client.tick()).toMatchObject({ crashed: 0 });
  }
  await pass(queue, 60_000);
  expect(await client.tick()).toMatchObject({ crashed: 1 });
});

it('does not bring back a lease that was reaped, ended, removed, or is another’s or unopened', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 4);
  const [unopened] = await claimSome(client, 1);
  if (unopened === undefined) return;
  const [reaped, ended, removed] = [await claimOne(client), await claimOne(client), await claimOne(client)];
  await client.settle(ended, allDone(ended), { claimNext: false });
  expect(await client.extend(reaped)).toMatchObject({ outcome: 'extended' });
  await pass(queue, 30_000);
  await client.extend(removed);
  await pass(queue, 30_000);
  await client.tick();
  const before = await snapshot(queue);
  for (const lease of [unopened, reaped, ended, { leaseId: removed.leaseId, token: reaped.token }]) {
    expect(await client.extend(lease)).toEqual({ outcome: 'stale' });
  }
  expect(await snapshot(queue)).toEqual(before);
  await client.purge('acme', 'everything');
  expect(await client.extend(removed)).toEqual({ outcome: 'stale' });
});

it('does not renew a lease that waits to be opened', async () => {
  const queue = await testQueue();
  await put(queue.client, 'acme');
  const [lease] = await claimSome(queue.client, 1);
  if (lease === undefined) throw new Error('nothing was claimed');
  expect(await queue.client.extend(lease)).toEqual({ outcome: 'stale' });
  await pass(queue, 20_000);
  expect(await queue.client.tick()).toMatchObject({ lapsed: 1, crashed: 0 });
});

it('asks to yield when no slot is free and a tenant with nothing in flight is at the head', async () => {
  const queue = await testQueue({ capacity: 1 });
  const { client, redis, keys } = queue;
  await put(client, 'acme', 5);
  const visit = await claimOne(client);
  const asked = async () => {
    const answer = await client.extend(visit);
    return answer.outcome === 'extended' && answer.yield;
  };
  expect(await asked()).toBe(false);
  await put(client, 'small');
  expect(await asked()).toBe(true);
  await redis.hset(keys.config, 'capacity', 2);
  expect(await asked()).toBe(false);
  await redis.hset(keys.config, 'capacity', 1);
  await redis.hset(keys.config, 'paused', '1');
  expect(await asked()).toBe(false);
  await redis.hdel(keys.config, 'paused');
  await client.pause('small');
  expect(await asked()).toBe(false);
});
