import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../support/invariants.ts';
import { testQueue } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';

const OPEN = { weight: 1, maxDepth: 100, maxConcurrency: 50 };
const CLOSED = { ...OPEN, maxConcurrency: 0 };

describe('a deploy that lowers the maxConcurrency of a plan', () => {
  test('holds its tenants at their turn, and serves the others in the same claim', async () => {
    const { client, redis, name } = await testQueue({ plans: { free: OPEN, growth: OPEN } });
    for (const tenant of ['first', 'second']) {
      await client.enqueue({ tenant, claimPlan: 'free', jobs: newJobs(2) });
    }
    await client.enqueue({ tenant: 'third', claimPlan: 'growth', jobs: newJobs(2) });
    await client.configure(testConfig({ version: 2, plans: { free: CLOSED, growth: OPEN } }));
    const { visits, rotation } = await client.claim(10);
    expect(visits.map(({ tenant }) => tenant)).toEqual(['third', 'third']);
    expect(rotation).toBe(0);
    expect(await checkInvariants(redis, name)).toEqual([]);
  });

  test('keeps waking the dispatcher while more tenants have to leave than one call takes', async () => {
    const { client, redis, keys, name } = await testQueue({ plans: { free: OPEN } });
    for (let i = 0; i < 60; i++) await client.enqueue({ tenant: `tenant-${i}`, jobs: newJobs(1) });
    await client.configure(testConfig({ version: 2, plans: { free: CLOSED } }));
    await redis.del(keys.wake);
    const first = await client.claim(10);
    expect(first.outcome).toBe('empty');
    expect(first.rotation).toBeGreaterThan(0);
    expect(await redis.llen(keys.wake)).toBe(1);
    await redis.del(keys.wake);
    expect(await client.claim(10)).toMatchObject({ outcome: 'empty', rotation: 0 });
    expect(await redis.llen(keys.wake)).toBe(0);
    expect(await checkInvariants(redis, name)).toEqual([]);
  });
});
