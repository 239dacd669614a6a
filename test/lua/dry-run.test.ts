import { expect, it } from 'vitest';
import { foresee } from '../../functions/tenants/dry-run.ts';
import { snapshot } from '../support/keyspace.ts';
import { type TestQueue, testQueue } from '../support/queue.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { put } from '../support/visits.ts';

const { plans, defaultPlan } = testConfig();
const wouldDo = async ({ client }: TestQueue, record: Parameters<typeof foresee>[2], tenant = 'acme') =>
  foresee(client, await client.inspect(tenant), record, { plans, defaultPlan });

it('says whose share would grow and whose would shrink, and changes nothing', async () => {
  const queue = await testQueue();
  for (const tenant of ['acme', 'globex', 'initech']) await put(queue.client, tenant, 2);
  // Not one of those that share.
  await put(queue.client, 'held', 2);
  await queue.client.pause('held');
  await put(queue.client, 'late', 1, { delayMs: 60_000 });
  const before = await snapshot(queue);
  expect(await wouldDo(queue, { plan: 'enterprise', maxJobsPerSecond: 2.5 })).toEqual({
    tenant: 'acme',
    dryRun: true,
    plan: 'enterprise',
    weight: 8,
    limits: { maxDepth: 500_000, maxConcurrency: 50, maxBytes: null, maxJobsPerSecond: 2.5, burst: 3 },
    share: { before: 0.333333, after: 0.8 },
    gains: [{ tenant: 'acme', before: 0.333333, after: 0.8 }],
    losses: [
      { tenant: 'globex', before: 0.333333, after: 0.1 },
      { tenant: 'initech', before: 0.333333, after: 0.1 },
    ],
    notNamed: 0,
    complete: true,
  });
  expect(await snapshot(queue)).toEqual(before);
});

it('foresees what then comes', async () => {
  const queue = await testQueue();
  for (const tenant of ['acme', 'globex']) await put(queue.client, tenant, 2);
  for (const record of [{ weight: 0.5 }, { plan: 'growth' }, { plan: 'growth', maxDepth: 3 }, {}]) {
    const { plan, weight, limits } = await wouldDo(queue, record);
    await queue.client.subscribe('acme', record);
    const { maxDepth, maxConcurrency } = limits;
    expect(await queue.client.inspect('acme')).toMatchObject({ plan, weight, maxDepth, maxConcurrency });
  }
});

it('goes by the claim where the record names no plan', async () => {
  const queue = await testQueue();
  await queue.client.enqueue({ tenant: 'acme', claimPlan: 'growth', jobs: [] });
  expect(await wouldDo(queue, {})).toMatchObject({ plan: 'growth', weight: 3, share: null, gains: [], losses: [] });
});

it('names the twenty that lose most', async () => {
  const queue = await testQueue();
  for (let n = 0; n < 30; n++) {
    await queue.client.subscribe(`t${n}`, { weight: n + 1 });
    await put(queue.client, `t${n}`);
  }
  const { losses, notNamed } = await wouldDo(queue, { weight: 100 }, 't0');
  expect(losses).toHaveLength(20);
  expect(losses[0]?.tenant).toBe('t29');
  expect(notNamed).toBe(9);
});
