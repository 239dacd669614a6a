import { describe, expect, it } from 'vitest';
import { advance } from '../support/advance.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { allDone, allGivenBack, claimSome, failed, openLease, put } from '../support/visits.ts';

/** Claims, opens and finishes whatever can be served now; returns how many jobs that was. */
async function serve({ client }: TestQueue): Promise<number> {
  await client.tick();
  const { served } = await client.stats();
  for (;;) {
    const { visits } = await client.claim(1);
    const [lease] = visits;
    if (!lease) break;
    const visit = await openLease(client, lease);
    await client.settle(visit, allDone(visit), { claimNext: false });
  }
  return (await client.stats()).served - served;
}

const limited = async (record: { maxJobsPerSecond: number; burst?: number }, jobs = 100) => {
  const queue = await testQueue();
  await queue.client.subscribe('acme', record);
  await put(queue.client, 'acme', jobs);
  return queue;
};

describe('a tenant with a rate', () => {
  it('gets its burst at once, and then what the time brings', async () => {
    const queue = await limited({ maxJobsPerSecond: 2, burst: 5 });
    expect(await serve(queue)).toBe(5);
    expect(await queue.client.inspect('acme')).toMatchObject({ held: ['rate'], ready: 95 });
    await advance(queue.redis, queue.name, 10_000);
    expect(await serve(queue)).toBe(5);
    await advance(queue.redis, queue.name, 2_000);
    expect(await serve(queue)).toBe(4);
  });

  it("has a second's worth of burst where nobody says", async () => {
    expect(await serve(await limited({ maxJobsPerSecond: 7 }))).toBe(7);
    expect(await serve(await limited({ maxJobsPerSecond: 0.01 }))).toBe(1);
  });

  it('is out of the rotation meanwhile, with a time at which a dispatcher looks', async () => {
    const queue = await limited({ maxJobsPerSecond: 1, burst: 1 });
    await serve(queue);
    const { outcome, rotation, nextDueMs, nowMs } = await queue.client.claim(1);
    expect({ outcome, rotation }).toEqual({ outcome: 'empty', rotation: 0 });
    expect((nextDueMs ?? 0) - nowMs).toBeGreaterThan(0);
    expect((nextDueMs ?? 0) - nowMs).toBeLessThanOrEqual(1_000);
    const { limitedUntilMs } = await queue.client.inspect('acme');
    expect(Math.abs((limitedUntilMs ?? 0) - (nextDueMs ?? 0))).toBeLessThanOrEqual(1);
    // More jobs change nothing about it.
    await put(queue.client, 'acme', 1);
    expect(await queue.client.claim(1)).toMatchObject({ outcome: 'empty' });
  });

  it('comes in again with what a second brings, not for each job', async () => {
    const queue = await limited({ maxJobsPerSecond: 4, burst: 8 });
    await serve(queue);
    await advance(queue.redis, queue.name, 500);
    expect(await serve(queue)).toBe(0);
    await advance(queue.redis, queue.name, 500);
    expect(await serve(queue)).toBe(4);
  });

  it('spends a token for a job, not for its retries', async () => {
    const queue = await limited({ maxJobsPerSecond: 1, burst: 2 }, 3);
    const { client } = queue;
    const first = await claimOne(client);
    await client.settle(first, [failed(1, 0)], { claimNext: false });
    expect(await serve(queue)).toBe(2);
    expect(await client.inspect('acme')).toMatchObject({ ready: 1, held: ['rate'], done: 2 });
  });

  it('gets its tokens back for jobs that were not started', async () => {
    const queue = await limited({ maxJobsPerSecond: 0.001, burst: 2 });
    for (let round = 0; round < 3; round++) {
      const visit = await claimOne(queue.client);
      await queue.client.settle(visit, allGivenBack(visit), { claimNext: false });
      const [lease] = await claimSome(queue.client, 1);
      if (!lease) throw new Error('there is a visit');
      await queue.client.release(lease);
      await advance(queue.redis, queue.name, 1_000);
      await queue.client.tick();
    }
    expect(await serve(queue)).toBe(2);
  });

  it('pays nothing again for what a lost worker had', async () => {
    const queue = await limited({ maxJobsPerSecond: 0.001, burst: 2 }, 4);
    await claimOne(queue.client);
    await advance(queue.redis, queue.name, 61_000);
    await queue.client.tick();
    expect(await serve(queue)).toBe(2);
  });

  it('has a raised rate or burst at once, and a lowered one', async () => {
    const queue = await limited({ maxJobsPerSecond: 0.001, burst: 1 });
    expect(await serve(queue)).toBe(1);
    await queue.client.subscribe('acme', { maxJobsPerSecond: 0.001, burst: 4 });
    expect(await serve(queue)).toBe(3);
    await queue.client.subscribe('acme', {});
    await queue.client.subscribe('acme', { maxJobsPerSecond: 0.001, burst: 4 });
    expect(await serve(queue)).toBe(0);
    await queue.client.subscribe('acme', {});
    expect(await serve(queue)).toBe(96);
    expect(await queue.client.inspect('acme')).toMatchObject({ ready: 0 });
  });

  it('keeps others from nothing', async () => {
    const queue = await limited({ maxJobsPerSecond: 0.001, burst: 1 });
    await put(queue.client, 'globex', 10);
    expect(await serve(queue)).toBe(11);
  });

  it('is not forgotten while its meter is filled', async () => {
    const plan = { weight: 1, maxDepth: 100, maxConcurrency: 50, maxJobsPerSecond: 0.01, burst: 5 };
    const queue = await testQueue({ plans: { free: plan } });
    await put(queue.client, 'acme', 5);
    expect(await serve(queue)).toBe(5);
    await advance(queue.redis, queue.name, 121_000);
    await queue.client.tick();
    await put(queue.client, 'acme', 5);
    expect(await serve(queue)).toBe(1);
  });
});
