import { expect, it } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allGivenBack, failed, learn, pass, put } from '../support/visits.ts';

it('shows what waits in the order in which it is served, page by page, and takes nothing', async () => {
  const queue = await testQueue({ quantum: 3 });
  const { client } = queue;
  await learn(client, ['acme']);
  await put(client, 'acme', 8, { cost: 1, maxAttempts: 7 });
  const visit = await claimOne(client);
  await client.settle(visit, allGivenBack(visit), { claimNext: false });
  const before = await snapshot(queue);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.waitingJobs('acme', 'ready', 3, cursor);
    expect(page.entries.length).toBeLessThanOrEqual(3);
    seen.push(...page.entries.map(({ payload }) => payload));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(await snapshot(queue)).toEqual(before);
  const [first] = (await client.waitingJobs('acme', 'ready', 1)).entries;
  expect(first).toMatchObject({ type: 'echo', attempts: 0, maxAttempts: 7, cost: 1 });
});

it('shows delayed jobs in the order in which they come due, retries among them', async () => {
  const { client } = await testQueue();
  await put(client, 'acme', 1, { payload: '"retry"' });
  await client.settle(await claimOne(client), [failed(1, 30_000)], { claimNext: false });
  await put(client, 'acme', 1, { payload: '"late"', delayMs: 90_000 });
  await put(client, 'acme', 1, { payload: '"soon"', delayMs: 10_000 });
  const { entries, next } = await client.waitingJobs('acme', 'delayed', 9);
  expect(entries.map(({ payload, attempts }) => [payload, attempts])).toEqual([
    ['"soon"', 0],
    ['"retry"', 1],
    ['"late"', 0],
  ]);
  expect(next).toBeNull();
  for (const { readyAtMs, enqueuedAtMs } of entries) expect(readyAtMs).toBeGreaterThan(enqueuedAtMs + 9_000);
});

it('ends a page early rather than hold more than 1 MiB', async () => {
  const { client } = await testQueue();
  const payload = JSON.stringify('x'.repeat(250_000));
  await put(client, 'acme', 6, { payload });
  const { entries, next } = await client.waitingJobs('acme', 'ready', 100);
  expect(entries).toHaveLength(4);
  expect((await client.waitingJobs('acme', 'ready', 100, next ?? '')).entries).toHaveLength(2);
});

it('shows dead letters newest first, and a page goes on where the one before ended though more have died', async () => {
  const queue = await testQueue();
  const { client } = queue;
  const die = async (payload: string) => {
    await put(client, 'acme', 1, { payload });
    const visit = await claimOne(client);
    await client.settle(visit, [{ index: 1, result: 'dead', durationMs: 1, error: `of ${payload}` }], {
      claimNext: false,
    });
  };
  for (const payload of ['1', '2', '3', '4']) await die(payload);
  await pass(queue, 1_000);
  const first = await client.deadLetters('acme', 2);
  expect(first.entries.map(({ payload, error }) => [payload, error])).toEqual([
    ['4', 'of 4'],
    ['3', 'of 3'],
  ]);
  expect(first.entries[0]).toMatchObject({ attempts: 1, maxAttempts: 5, type: 'echo' });
  await die('5');
  const second = await client.deadLetters('acme', 2, first.next ?? '');
  expect(second.entries.map(({ payload }) => payload)).toEqual(['2', '1']);
  expect(second.next).toBeNull();
  expect(await client.deadLetters('nobody', 9)).toEqual({ entries: [], next: null });
});
