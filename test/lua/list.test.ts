import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, pass, put } from '../support/visits.ts';

it('lists tenants with waiting jobs, deepest first or longest waiting first', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'gone');
  const visit = await claimOne(client);
  await client.settle(visit, allDone(visit), { claimNext: false });
  for (const [tenant, ready, delayed] of [
    ['some', 2, 0],
    ['most', 1, 6],
    ['later', 0, 3],
  ] as const) {
    if (ready > 0) await put(client, tenant, ready);
    if (delayed > 0) await put(client, tenant, delayed, { delayMs: 60_000 });
    await pass(queue, 1_000);
  }
  const names = async (sort: 'depth' | 'oldest') => (await client.list(sort, 10)).tenants.map(({ tenant }) => tenant);
  expect(await names('depth')).toEqual(['most', 'later', 'some']);
  // Only ready jobs wait for their turn.
  expect(await names('oldest')).toEqual(['some', 'most']);
});

it('gives the views that inspect gives, and writes nothing', async () => {
  const queue = await testQueue();
  const { client } = queue;
  for (const tenant of ['a:b{c}|*%', '🦊', '7']) await put(client, tenant, 2);
  const before = await snapshot(queue);
  const { tenants } = await client.list('depth', 10);
  expect(tenants).toHaveLength(3);
  for (const view of tenants) expect({ ...(await client.inspect(view.tenant)), nowMs: view.nowMs }).toEqual(view);
  expect(await snapshot(queue)).toEqual(before);
});

it('pages through all of them once', async () => {
  const { client } = await testQueue();
  for (let i = 0; i < 25; i++) await put(client, `t${i}`, 1 + (i % 3));
  for (const sort of ['depth', 'oldest'] as const) {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.list(sort, 7, cursor);
      seen.push(...page.tenants.map(({ tenant }) => tenant));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
  }
});

it('of an empty queue is empty', async () => {
  const { client } = await testQueue();
  expect(await client.list('depth', 10)).toEqual({ tenants: [], next: null });
});
