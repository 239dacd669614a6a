import { expect, it } from 'vitest';
import type { TenantReading } from '../../functions/lib/domain/outcomes.ts';
import { watcherOf } from '../../functions/lib/queue/watcher.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, learn, pass, put } from '../support/visits.ts';

/** All slices of a survey, and how many there were. */
async function surveyAll(client: QueueClient, count: number) {
  const tenants: TenantReading[] = [];
  let slices = 0;
  let most = 0;
  let cursor = '0';
  do {
    const slice = await watcherOf(client).survey(cursor, count);
    tenants.push(...slice.tenants);
    most = Math.max(most, slice.tenants.length);
    slices++;
    cursor = slice.cursor;
  } while (cursor !== '0');
  return { tenants, slices, most };
}

it('reads what there is of a tenant, and writes nothing', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await client.subscribe('a', { plan: 'growth', weight: 5 });
  await learn(client, ['a']);
  await put(client, 'a', 50);
  await put(client, 'a', 2, { delayMs: 60_000 });
  const visit = await claimOne(client);
  await pass(queue, 100_000);
  const before = await snapshot(queue);
  const { tenants, cursor, ratePerSecond, rateSpanMs } = await watcherOf(client).survey('0', 100);
  expect(cursor).toBe('0');
  const [reading] = tenants;
  expect(tenants).toHaveLength(1);
  expect(reading).toMatchObject({
    tenant: 'a',
    plan: 'growth',
    weight: 5,
    ready: 50 - visit.jobs.length,
    delayed: 2,
    inFlight: visit.jobs.length,
    held: [],
    enqueued: 53,
    served: 1 + visit.jobs.length,
  });
  expect(reading?.ratePerSecond).toBeCloseTo((1 + visit.jobs.length) / 100, 2);
  expect(Math.floor((reading?.rateSpanMs ?? 0) / 10_000)).toBe(10);
  expect(ratePerSecond).toBeCloseTo(reading?.ratePerSecond ?? 0, 2);
  expect(Math.floor(rateSpanMs / 10_000)).toBe(10);
  expect(await snapshot(queue)).toEqual(before);
});

it('reads tenants by name, idle and unknown ones too', async () => {
  const { client } = await testQueue();
  await put(client, 'a', 3);
  await client.pause('b');
  const { tenants } = await watcherOf(client).survey('', 100, ['b', 'né:1|*%🐢']);
  expect(tenants.map(({ tenant }) => tenant)).toEqual(['b', 'né:1|*%🐢']);
  expect(tenants[0]).toMatchObject({ held: ['paused'], ready: 0, oldestReadySinceMs: null });
  expect(tenants[1]).toMatchObject({ plan: 'free', weight: 1, enqueued: 0, served: 0, ratePerSecond: null });
});

it('comes by every tenant with waiting jobs, a slice at a time, while others come and go', async () => {
  const { client } = await testQueue();
  const names = Array.from({ length: 600 }, (_, i) => `t${i}`);
  await Promise.all(names.map((name) => put(client, name)));
  let seen = 0;
  const coming = (async () => {
    for (let i = 0; i < 100; i++) {
      await put(client, `new${i}`);
      const visit = await claimOne(client);
      await client.settle(visit, allDone(visit), { claimNext: false });
    }
  })();
  const { tenants, slices, most } = await surveyAll(client, 50);
  await coming;
  const found = new Set(tenants.map(({ tenant }) => tenant));
  // The first hundred of the rotation were served meanwhile.
  for (const name of names.slice(100)) if (found.has(name)) seen++;
  expect(seen).toBe(500);
  expect(slices).toBeGreaterThanOrEqual(10);
  expect(most).toBeLessThan(120);
});
