import { expect, it } from 'vitest';
import { bury, deadOf } from '../support/dead.ts';
import { keysOf, snapshot } from '../support/keyspace.ts';
import { testQueue } from '../support/queue.ts';
import { put } from '../support/visits.ts';

it('removes one dead letter, wherever it is, and no other', async () => {
  const queue = await testQueue();
  const { client } = queue;
  const ids = await bury(queue, 'acme', 450);
  await bury(queue, 'globex', 1);
  expect(await client.dropDead('acme', ids[3])).toBe(1);
  expect(await client.dropDead('acme', ids[3])).toBe(0);
  expect(await client.dropDead('globex', ids[4])).toBe(0);
  expect(await client.inspect('acme')).toMatchObject({ dead: 449 });
  expect(await client.stats()).toMatchObject({ dead: 450, died: 451, dropped: 0 });
  expect((await deadOf(client, 'acme')).slice(0, 5)).toEqual(['0', '1', '2', '4', '5']);
});

it('removes all of a tenant, and nothing that waits', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await bury(queue, 'acme', 3);
  await put(client, 'acme', 2);
  expect(await client.dropDead('acme')).toBe(3);
  expect(await client.dropDead('acme')).toBe(0);
  expect(await client.inspect('acme')).toMatchObject({ dead: 0, ready: 2 });
  expect(await keysOf(queue)).not.toContain(queue.keys.dead('acme'));
});

it('of what there is not writes nothing', async () => {
  const queue = await testQueue();
  const before = await snapshot(queue);
  for (const id of [undefined, `0-${'0'.repeat(24)}`, `1-${'0'.repeat(24)}`, 'nonsense']) {
    expect(await queue.client.dropDead('nobody', id)).toBe(0);
  }
  expect(await snapshot(queue)).toEqual(before);
});

it('lets a tenant be forgotten that has nothing left', async () => {
  const queue = await testQueue();
  await bury(queue, 'acme', 1);
  expect(await queue.redis.zscore(queue.keys.idle, 'acme')).toBeNull();
  await queue.client.dropDead('acme');
  expect(await queue.redis.zscore(queue.keys.idle, 'acme')).not.toBeNull();
});
