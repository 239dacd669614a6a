import { expect, test } from 'vitest';
import { newJob } from '../support/queue-fixture.ts';
import { claimOne, testQueue } from '../support/queue.ts';

test('wakes a dispatcher for what comes due before all else that is to, and for nothing later', async () => {
  const { client, redis, keys } = await testQueue();
  const enqueue = async (tenant: string, delayMs: number) => {
    await client.enqueue({
      tenant: tenant,
      claimPlan: undefined,
      idempotencyKey: undefined,
      jobs: [newJob({ delayMs })],
    });
    return redis.lpop(keys.wake);
  };
  expect(await enqueue('acme', 60_000)).toBe('1');
  expect(await enqueue('acme', 70_000)).toBeNull();
  expect(await enqueue('globex', 70_000)).toBeNull();
  expect(await enqueue('globex', 50_000)).toBe('1');
  expect(await enqueue('acme', 55_000)).toBeNull();
  expect(await enqueue('acme', 40_000)).toBe('1');
});

test('wakes a dispatcher for a retry that is due before it would look', async () => {
  const { client, redis, keys } = await testQueue();
  await client.enqueue({
    tenant: 'acme',
    claimPlan: undefined,
    idempotencyKey: undefined,
    jobs: [newJob()],
  });
  const visit = await claimOne(client);
  await redis.del(keys.wake);
  const failed = {
    index: visit.jobs[0]?.index ?? 0,
    result: 'failed',
    durationMs: 1,
    retryDelayMs: 300,
    error: 'x',
  } as const;
  await client.settle(visit, [failed], { claimNext: false });
  expect(await redis.llen(keys.wake)).toBe(1);
});
