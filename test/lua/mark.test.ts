import { expect, test } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { testQueue } from '../support/queue.ts';

test('the dispatcher that began last has the mark, and only its owner takes it away', async () => {
  const { client: older, name, connect, redis, keys } = await testQueue();
  const younger = createQueueClient({ redis: connect(), queue: name, shard: 0 });
  await older.markDispatcher('take');
  const ofOlder = await redis.get(keys.dispatcher);
  await younger.markDispatcher('take');
  const ofYounger = await redis.get(keys.dispatcher);
  expect(ofYounger).not.toBe(ofOlder);

  await older.markDispatcher('keep');
  await older.unmarkDispatcher();
  expect(await redis.get(keys.dispatcher)).toBe(ofYounger);

  await younger.unmarkDispatcher();
  expect(await redis.exists(keys.dispatcher)).toBe(0);
  await older.markDispatcher('keep');
  expect(await redis.get(keys.dispatcher)).toBe(ofOlder);
  await younger.close();
});

test('a call for a dispatcher gives way to the one that comes', async () => {
  const { client, redis, keys } = await testQueue();
  await redis.set(keys.dispatcher, 'called', 'PX', 5_000);
  await client.markDispatcher('keep');
  expect(await redis.get(keys.dispatcher)).not.toBe('called');
});
