import { expect, it } from 'vitest';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, claimSome, learn, pass, payloads, put } from '../support/visits.ts';

it('stops serving a tenant at once; what is in flight goes on, what waits keeps its order', async () => {
  const { client } = await testQueue();
  await learn(client, ['acme']);
  await put(client, 'acme', 6);
  const visit = await claimOne(client);
  await client.pause('acme');
  await put(client, 'acme', 1, { payload: '"new"' });
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty', rotation: 0 });
  expect(await client.extend(visit)).toMatchObject({ outcome: 'extended' });
  expect(await client.settle(visit, allDone(visit), { claimNext: true })).toEqual({ outcome: 'ended' });
  expect(await client.inspect('acme')).toMatchObject({ held: ['paused'], ready: 3, done: 5 });
  await client.resume('acme');
  expect(payloads(await claimOne(client))).toEqual(['4', '5', '"new"']);
});

it('is the operator’s word: neither billing’s record, a tick nor a second pause undoes it', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await client.pause('acme');
  await client.pause('acme');
  await put(client, 'acme', 1);
  await client.subscribe('acme', { plan: 'enterprise', maxConcurrency: 9 });
  await put(client, 'acme', 1, { delayMs: 5 });
  await pass(queue, 600_000);
  await client.tick();
  expect(await client.inspect('acme')).toMatchObject({ held: ['paused'], ready: 2 });
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  await client.resume('acme');
  await client.resume('acme');
  expect(await client.claim(9)).toMatchObject({ outcome: 'claimed', visits: [{}, {}] });
});

it('does not lift what else holds the tenant', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await client.subscribe('acme', { maxConcurrency: 1 });
  await put(client, 'acme', 3);
  await claimSome(client, 1);
  await client.pause('acme');
  expect(await client.inspect('acme')).toMatchObject({ held: ['paused', 'concurrency'] });
  await client.resume('acme');
  expect(await client.inspect('acme')).toMatchObject({ held: ['concurrency'] });
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
});

it('banks nothing: the tenant comes back at the clock, or where it was ahead of it', async () => {
  const { client, redis, keys } = await testQueue();
  await put(client, 'acme', 2);
  await put(client, 'dear', 2, { cost: 30 });
  await client.pause('acme');
  await claimSome(client, 1);
  await client.pause('dear');
  await put(client, 'busy', 9);
  await claimSome(client, 9);
  await client.resume('acme');
  await client.resume('dear');
  expect((await peekTenant(redis, keys.tenant('acme')))?.turn).toBe(8);
  expect((await peekTenant(redis, keys.tenant('dear')))?.turn).toBe(30);
});

it('asks for a dispatcher and wakes one when it resumes a tenant with jobs', async () => {
  const { client, redis, keys } = await testQueue();
  await client.pause('acme');
  expect(await client.resume('idle')).toEqual({ dispatch: false });
  await put(client, 'acme');
  expect(await redis.exists(keys.wake, keys.dispatcher)).toBe(0);
  expect(await client.resume('acme')).toEqual({ dispatch: true });
  expect(await redis.llen(keys.wake)).toBe(1);
  await client.pause('acme');
  expect(await client.resume('acme')).toEqual({ dispatch: false });
});

it('holds a tenant that Redis has never seen', async () => {
  const { client } = await testQueue();
  await client.pause('new');
  await put(client, 'new');
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
});
