import { expect, it } from 'vitest';
import { openCore } from '../../functions/lib/queue/core.ts';
import { exporterOf } from '../../functions/lib/queue/exporter.ts';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { allGivenBack, learn, payloads, put } from '../support/visits.ts';

const exporter = (queue: TestQueue) => exporterOf(openCore({ redis: queue.connect(), queue: queue.name, shard: 0 }));

it('takes what came back, what is ready and what is delayed, and keeps it in the order of its enqueue', async () => {
  const queue = await testQueue({ quantum: 3 });
  const { client } = queue;
  await learn(client, ['acme']);
  await put(client, 'acme', 4);
  await put(client, 'globex', 1, { payload: '"between"' });
  await put(client, 'acme', 1, { payload: '"late"', delayMs: 60_000 });
  await put(client, 'acme', 1, { payload: '"last"' });
  const visit = await claimOne(client);
  await client.settle(visit, allGivenBack(visit), { claimNext: false });
  const out = exporter(queue);
  expect(await out.withdraw('acme', 4)).toEqual({ count: 4, left: 2 });
  expect(await out.withdraw('acme', 9)).toEqual({ count: 2, left: 0 });
  expect(await out.withdraw('globex', 9)).toEqual({ count: 1, left: 0 });
  const jobs = await out.withdrawn(9);
  expect(jobs.map(({ tenant, payload }) => [tenant, payload])).toEqual([
    ['acme', '0'],
    ['acme', '1'],
    ['acme', '2'],
    ['acme', '3'],
    ['globex', '"between"'],
    ['acme', '"late"'],
    ['acme', '"last"'],
  ]);
  expect(await client.stats()).toMatchObject({ ready: 0, delayed: 0, bytes: 0 });
  await out.forget(3);
  expect((await out.withdrawn(1))[0]?.payload).toBe('3');
  await out.forget(9);
  expect(await queue.redis.exists(queue.keys.withdrawn)).toBe(0);
});

it('leaves what is in flight, and other tenants', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 3);
  const visit = await claimOne(client);
  await put(client, 'globex', 2);
  expect(await exporter(queue).withdraw('acme', 9)).toEqual({ count: 2, left: 0 });
  expect(payloads(visit)).toEqual(['0']);
  expect(await client.inspect('acme')).toMatchObject({ ready: 0, inFlight: 1 });
  expect(await client.inspect('globex')).toMatchObject({ ready: 2 });
  await exporter(queue).forget(9);
});

it('of a tenant without jobs writes nothing', async () => {
  const queue = await testQueue();
  const before = await snapshot(queue);
  expect(await exporter(queue).withdraw('nobody', 9)).toEqual({ count: 0, left: 0 });
  expect(await snapshot(queue)).toEqual(before);
});
