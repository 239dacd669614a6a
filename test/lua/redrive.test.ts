import { expect, it } from 'vitest';
import { bury, deadOf } from '../support/dead.ts';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { failed, learn, payloads, put } from '../support/visits.ts';

it('puts the dead back to wait, the oldest first, behind what waits already', async () => {
  const queue = await testQueue({ quantum: 9 });
  const { client } = queue;
  const ids = await bury(queue, 'acme', 3);
  await learn(client, ['acme']);
  await put(client, 'acme', 1, { payload: '"waited"' });
  expect(await client.redrive('acme')).toMatchObject({ redriven: 3, remaining: 0 });
  const visit = await claimOne(client);
  expect(payloads(visit)).toEqual(['"waited"', '0', '1', '2']);
  expect(visit.jobs.slice(1).map(({ id, attempt }) => [id, attempt])).toEqual(ids.map((id) => [id, 1]));
});

it('gives a job all its attempts again', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 1, { maxAttempts: 2 });
  const die = async () => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      const visit = await claimOne(client);
      expect(visit.jobs[0]?.attempt).toBe(attempt);
      await client.settle(visit, [failed(1)], { claimNext: false });
      await client.tick();
    }
  };
  await die();
  expect(await client.redrive('acme')).toMatchObject({ redriven: 1 });
  await die();
  expect(await client.inspect('acme')).toMatchObject({ dead: 1, ready: 0, delayed: 0 });
});

it('stops at the caps of the tenant and of the queue', async () => {
  const queue = await testQueue({ maxQueueDepth: 6 });
  const { client } = queue;
  await bury(queue, 'acme', 6);
  await client.subscribe('acme', { maxDepth: 2 });
  expect(await client.redrive('acme')).toMatchObject({ redriven: 2, remaining: 4 });
  expect(await client.redrive('acme')).toMatchObject({ redriven: 0, remaining: 4 });
  await client.subscribe('acme', { maxBytes: 3 * 'echo\n0'.length });
  expect(await client.redrive('acme')).toMatchObject({ redriven: 1, remaining: 3 });
  await client.subscribe('acme', {});
  await put(client, 'globex', 1);
  expect(await client.redrive('acme')).toMatchObject({ redriven: 2, remaining: 1 });
  expect(await deadOf(client, 'acme')).toEqual(['5']);
});

it('puts back one, wherever it is; another is not there', async () => {
  const queue = await testQueue();
  const { client } = queue;
  const ids = await bury(queue, 'acme', 450);
  expect(await client.redrive('acme', ids[1])).toMatchObject({ redriven: 1, remaining: 449, dispatch: false });
  expect(await client.redrive('acme', ids[1])).toBeNull();
  expect(await client.redrive('globex', ids[2])).toBeNull();
  expect(payloads(await claimOne(client))).toEqual(['1']);
});

it('takes many in slices, and all of them', async () => {
  const queue = await testQueue();
  await bury(queue, 'acme', 450);
  expect(await queue.client.redrive('acme')).toMatchObject({ redriven: 450, remaining: 0 });
  expect(await queue.client.inspect('acme')).toMatchObject({ ready: 450, dead: 0 });
});

it('leaves a paused tenant paused, and of nothing makes nothing', async () => {
  const queue = await testQueue();
  await bury(queue, 'acme', 1);
  await queue.client.pause('acme');
  expect(await queue.client.redrive('acme')).toMatchObject({ redriven: 1 });
  expect(await queue.client.claim(1)).toMatchObject({ outcome: 'empty' });
  const before = await snapshot(queue);
  expect(await queue.client.redrive('nobody')).toMatchObject({ redriven: 0, remaining: 0, dispatch: false });
  expect(await snapshot(queue)).toEqual(before);
});

it('asks for a dispatcher when none lives', async () => {
  const queue = await testQueue();
  await bury(queue, 'acme', 1);
  await queue.redis.del(queue.keys.dispatcher);
  expect(await queue.client.redrive('acme')).toMatchObject({ dispatch: true });
});
