import { expect, it } from 'vitest';
import { testQueue } from '../support/queue.ts';

it('changes the tag of a record with every part of it, and with nothing else', async () => {
  const { client } = await testQueue();
  const tags: string[] = [];
  const tag = async () => (await client.inspect('acme')).etag;
  const records = [
    {},
    { plan: 'free' },
    { weight: 2 },
    { maxDepth: 2 },
    { maxConcurrency: 2 },
    { maxBytes: 2 },
    { maxJobsPerSecond: 2 },
    { burst: 2 },
  ];
  for (const record of records) {
    await client.subscribe('acme', record);
    tags.push(await tag());
    await client.pause('acme');
    expect(await tag()).toBe(tags.at(-1));
  }
  expect(new Set(tags).size).toBe(records.length);
  expect((await client.inspect('never seen')).etag).toBe(tags[0]);
});

it('replaces only the record that the caller has seen', async () => {
  const { client } = await testQueue();
  const { etag } = await client.inspect('acme');
  expect(await client.subscribe('acme', { weight: 2 }, etag)).toMatchObject({ outcome: 'subscribed' });
  const { etag: second } = await client.inspect('acme');
  expect(await client.subscribe('acme', { weight: 3 }, etag)).toEqual({ outcome: 'changed', etag: second });
  expect(await client.inspect('acme')).toMatchObject({ weight: 2, etag: second });
  expect(await client.subscribe('acme', { weight: 3 }, `${etag},${second}`)).toMatchObject({ outcome: 'subscribed' });
  expect(await client.subscribe('acme', { weight: 4 }, '*')).toMatchObject({ outcome: 'subscribed' });
});

it('lets one of many writers win that have seen the same record', async () => {
  const { client } = await testQueue();
  const { etag } = await client.inspect('acme');
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.subscribe('acme', { weight: i + 1 }, etag)),
  );
  expect(outcomes.filter(({ outcome }) => outcome === 'subscribed')).toHaveLength(1);
});
