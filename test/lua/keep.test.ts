import { expect, it } from 'vitest';
import { watcherOf } from '../../functions/lib/queue/watcher.ts';
import { testQueue } from '../support/queue.ts';

it('stores a reading that follows from the last one', async () => {
  const watcher = watcherOf((await testQueue()).client);
  expect(await watcher.lastReading()).toEqual({ number: 0, reading: null });
  expect(await watcher.keepReading(0, 'first')).toBe('kept');
  expect(await watcher.keepReading(1, 'second')).toBe('kept');
  expect(await watcher.lastReading()).toEqual({ number: 2, reading: 'second' });
});

it('lets one of several that follow from the same reading be stored', async () => {
  const watcher = watcherOf((await testQueue()).client);
  const outcomes = await Promise.all(['a', 'b', 'c'].map((reading) => watcher.keepReading(0, reading)));
  expect(outcomes).toEqual(['kept', 'overtaken', 'overtaken']);
  expect(await watcher.lastReading()).toEqual({ number: 1, reading: 'a' });
});
