import { expect, it } from 'vitest';
import { claimOne, testQueue } from '../support/queue.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { allDone, claimSome, openLease, put } from '../support/visits.ts';

it('pauses the whole queue: what is in flight goes on, and nothing new begins', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 3);
  const visit = await claimOne(client);
  await client.steer({ paused: true });
  expect(await client.claim(1)).toMatchObject({ outcome: 'paused' });
  expect(await client.settle(visit, allDone(visit), { claimNext: true })).toEqual({ outcome: 'ended' });
  expect(await client.enqueue({ tenant: 'acme', jobs: [] })).toMatchObject({ outcome: 'accepted', dispatch: false });
  expect(await client.stats()).toMatchObject({ paused: true, ready: 2 });
});

it('resumes it, and tells a dispatcher or asks for one', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await client.steer({ paused: true });
  await put(client, 'acme', 1);
  await queue.redis.del(queue.keys.wake, queue.keys.dispatcher);
  expect(await client.steer({ paused: false })).toEqual({ dispatch: true });
  expect(await queue.redis.llen(queue.keys.wake)).toBe(1);
  expect(await client.claim(1)).toMatchObject({ outcome: 'claimed' });
});

it('changes the capacity at once in either direction', async () => {
  const queue = await testQueue({ capacity: 2 });
  const { client } = queue;
  await put(client, 'acme', 9);
  const [first, second] = await claimSome(client, 9);
  if (!first || !second) throw new Error('there are two visits');
  await queue.redis.del(queue.keys.wake);
  await client.steer({ capacity: 3 });
  expect(await queue.redis.llen(queue.keys.wake)).toBe(1);
  expect(await claimSome(client, 9)).toHaveLength(1);
  await client.steer({ capacity: 1 });
  const visit = await openLease(client, first);
  expect(await client.settle(visit, allDone(visit), { claimNext: true })).toEqual({ outcome: 'ended' });
  expect(await client.claim(1)).toMatchObject({ outcome: 'no_capacity' });
  expect(await client.stats()).toMatchObject({ capacity: 1, deployedCapacity: 2 });
});

it('outlives a deploy, until it is taken back', async () => {
  const { client } = await testQueue({ capacity: 2 });
  await client.steer({ paused: true, capacity: 7 });
  await client.configure(testConfig({ capacity: 5, version: 2 }));
  expect(await client.stats()).toMatchObject({ paused: true, capacity: 7, deployedCapacity: 5 });
  // What is not given stays as it is.
  await client.steer({ paused: false });
  expect(await client.stats()).toMatchObject({ paused: false, capacity: 7 });
  await client.steer({ capacity: null });
  expect(await client.stats()).toMatchObject({ paused: false, capacity: 5 });
});
