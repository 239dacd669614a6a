import { expect, it } from 'vitest';
import { testQueue } from '../support/queue.ts';

it('stores a reading that follows from the last one', async () => {
  const { client } = await testQueue();
  expect(await client.lastReading()).toEqual({ number: 0, reading: null });
  expect(await client.keepReading(0, 'first')).toBe('kept');
  expect(await client.keepReading(1, 'second')).toBe('kept');
  expect(await client.lastReading()).toEqual({ number: 2, reading: 'second' });
});

it('lets one of several that follow from the same reading be stored', async () => {
  const { client } = await testQueue();
  const outcomes = await Promise.all(['a', 'b', 'c'].map((reading) => client.keepReading(0, reading)));
  expect(outcomes).toEqual(['kept', 'overtaken', 'overtaken']);
  expect(await client.lastReading()).toEqual({ number: 1, reading: 'a' });
});
