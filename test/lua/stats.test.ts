import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, allGivenBack, claimSome, failed, learn, pass, put } from '../support/visits.ts';

const dead = (index: number) => ({ index, result: 'dead', durationMs: 1, error: '' }) as const;

it('of a new queue are zeros, and writes nothing', async () => {
  const queue = await testQueue();
  const before = await snapshot(queue);
  const { nowMs, capacity, deployedCapacity, ...rest } = await queue.client.stats();
  expect(nowMs).toBeGreaterThan(1.7e12);
  expect([capacity, deployedCapacity]).toEqual([40, 40]);
  expect(rest).toMatchObject({ paused: false, dispatcherAlive: false, oldestReadySinceMs: null, ratePerSecond: null });
  const numbers = Object.values(rest).filter((value) => typeof value === 'number');
  expect(numbers).toHaveLength(17);
  expect(numbers).toEqual(Array(17).fill(0));
  expect(await snapshot(queue)).toEqual(before);
});

it('sum up what all tenants have and what has happened', async () => {
  const queue = await testQueue({ deadLetters: 1 });
  const { client } = queue;
  await learn(client, ['a', 'b']);
  await put(client, 'a', 8);
  await put(client, 'b', 3);
  await put(client, 'b', 2, { delayMs: 60_000 });
  const [a, b] = [await claimOne(client), await claimOne(client)];
  await claimSome(client, 1);
  await client.settle(a, [failed(1, 60_000), { index: 2, result: 'given_back' }], { claimNext: false });
  await client.settle(b, [dead(1), dead(2), ...allDone(b).slice(2)], { claimNext: false });
  await client.settle(b, [], { claimNext: false });
  await client.markDispatcher('take');
  await pass(queue, 100_000);
  const stats = await client.stats();
  expect(stats).toMatchObject({
    visitsInFlight: 2,
    visitsUnopened: 1,
    rotation: 1,
    waitingTenants: 2,
    ready: 1,
    delayed: 3,
    inFlight: 6,
    dead: 1,
    enqueued: 15,
    served: 12,
    done: 3,
    failed: 3,
    died: 2,
    dropped: 1,
    late: 1,
    dispatcherAlive: true,
    virtualClock: 4,
  });
  expect(stats.ratePerSecond).toBeCloseTo(12 / 100, 2);
  expect(Math.floor((stats.nowMs - (stats.oldestReadySinceMs ?? 0)) / 10_000)).toBe(10);
  await client.settle(a, allGivenBack(a), { claimNext: false });
  expect(await client.stats()).toMatchObject({ inFlight: 4, ready: 3, served: 10 });
});

it('show a dispatcher’s mark of life only while it lasts', async () => {
  const { client } = await testQueue();
  await client.markDispatcher('take');
  expect(await client.stats()).toMatchObject({ dispatcherAlive: true });
  await client.unmarkDispatcher();
  expect(await client.stats()).toMatchObject({ dispatcherAlive: false });
});
