import { expect, test, vi } from 'vitest';
import { queueMetrics, tenantMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import { emfRecords, valueOf } from '../support/emf.ts';
import { lookAt } from '../support/monitor.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const WEIGHTS = { enterprise: 8, growth: 3, free: 1 };
const PLANS = ['enterprise', 'growth', 'free'] as const;

const stack = await startStack({ 'rota.capacity': '5' });

test('monitor tells of the shares in a flood, of the queue, and every metric that is stated', async () => {
  await stack.redis.hset(stack.keys.config, 'paused', 1);
  for (const plan of PLANS) {
    await stack.subscribe(plan, { plan });
    await stack.enqueue(plan, jobsOf(4_000, 'sleep', { ms: 2 }));
  }
  await lookAt(stack);
  await stack.redis.hset(stack.keys.config, 'paused', 0);
  stack.fire('dispatch');
  await vi.waitFor(async () => expect((await stack.queueView()).totals.served).toBeGreaterThan(4_000), {
    timeout: 60_000,
    interval: 20,
  });
  const records = await lookAt(stack);

  const shares = PLANS.map((plan) => valueOf(records, plan, tenantMetrics.realisedShare.name));
  const entitled = PLANS.map((plan) => WEIGHTS[plan] / 12);
  for (const [i, share] of shares.entries()) expect(Math.abs(share / (entitled[i] ?? 0) - 1)).toBeLessThanOrEqual(0.05);
  for (const [i, plan] of PLANS.entries()) {
    expect(valueOf(records, plan, tenantMetrics.entitledShare.name)).toBeCloseTo(entitled[i] ?? 0, 6);
    expect(valueOf(records, plan, tenantMetrics.served.name)).toBeGreaterThan(0);
  }
  expect(valueOf(records, undefined, queueMetrics.fairnessError.name)).toBeLessThan(0.03);
  expect(valueOf(records, undefined, queueMetrics.capacityUsed.name)).toBe(5);
  expect(valueOf(records, undefined, queueMetrics.activeTenants.name)).toBe(3);

  const queueRecords = records.filter(({ tenant }) => tenant === undefined);
  expect(queueRecords.map(({ dimensions }) => dimensions)).toEqual([['queue']]);
  expect(Object.keys(queueRecords[0]?.values ?? {}).toSorted()).toEqual(
    Object.values(queueMetrics)
      .map(({ name }) => name)
      .toSorted(),
  );
  for (const record of records.filter(({ tenant }) => tenant !== undefined)) {
    expect(record.dimensions.toSorted()).toEqual(['queue', 'tenant']);
    expect(Object.keys(record.values).toSorted()).toEqual(
      Object.values(tenantMetrics)
        .map(({ name }) => name)
        .toSorted(),
    );
  }
  for (const plan of PLANS) await stack.call('DELETE', `/v1/tenants/${plan}`);
});

test('process tells how long jobs had waited, in the line of their visit', async () => {
  await stack.enqueue('waits', jobsOf(3, 'echo', { secret: 'xyzzy' }));
  stack.fire('dispatch');
  await stack.drained();
  const visits = await vi.waitFor(() => {
    const found = emfRecords(stack.logs('process')).filter(({ line }) => line.tenant === 'waits');
    expect(found.flatMap(({ values }) => values.DispatchLatency)).toHaveLength(3);
    return found;
  });
  for (const { line, dimensions } of visits) {
    expect(line).toMatchObject({ event: 'visit', queue: stack.metricsName, message: 'visit' });
    expect(dimensions).toEqual(['queue']);
  }
  const longest = Math.max(...visits.map(({ line }) => Number(line.waitMs)));
  const values = visits.flatMap(({ values: { DispatchLatency = [] } }) => DispatchLatency);
  expect(Math.max(...values)).toBeCloseTo(longest / 1000, 3);
  expect(longest).toBeGreaterThanOrEqual(0);
  expect(longest).toBeLessThan(30_000);
  expect(stack.logs().join('\n')).not.toContain('xyzzy');
});

test('enqueue tells of refusals with their jobs', async () => {
  await stack.subscribe('capped', { maxDepth: 2, maxConcurrency: 0 });
  expect((await stack.call('POST', '/v1/jobs', { tenant: 'capped', jobs: jobsOf(3, 'echo') })).status).toBe(429);
  const [refusal] = await vi.waitFor(() => {
    const found = emfRecords(stack.logs('enqueue'));
    expect(found).toHaveLength(1);
    return found;
  });
  expect(refusal?.values).toEqual({ Rejected: [3] });
  expect(refusal?.line).toMatchObject({ event: 'rejected', tenant: 'capped', jobs: 3, depth: 0, limit: 2 });
});
