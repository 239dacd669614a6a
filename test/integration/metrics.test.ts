import { expect, test, vi } from 'vitest';
import { queueMetrics, tenantMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import { emfRecords, valueOf } from '../support/emf.ts';
import { countersOf, parseOpenMetrics } from '../support/open-metrics.ts';
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

/** What a Prometheus reads after another look of `monitor`. */
async function scrape(): Promise<string> {
  await lookAt(stack);
  const answer = await stack.call<string>('GET', '/v1/metrics');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  return answer.body;
}

test('a Prometheus reads the same, and its counters never fall while tenants enter and leave the top', async () => {
  await stack.configure({ capacity: 5 });
  const highest = new Map(countersOf(await scrape()));
  const servedOf = () =>
    [...highest].reduce((sum, [counter, value]) => sum + (counter.startsWith('jobs_served_total') ? value : 0), 0);
  const allServed = () => highest.get('rota_jobs_served_total{}') ?? 0;
  // What tenants were served that are gone by now.
  const gone = allServed() - servedOf();
  const labels = new Set<string>();
  for (let round = 0; round < 6; round++) {
    // 25 new tenants, those that come later with more to do than those that came before.
    const tenants = Array.from({ length: 25 }, (_, i) => `churn-${round}-${i}`);
    await Promise.all(tenants.map((tenant) => stack.enqueue(tenant, jobsOf(20 + 10 * round, 'sleep', { ms: 1 }))));
    stack.fire('dispatch');
    const text = await scrape();
    for (const [counter, value] of countersOf(text)) {
      expect({ counter, fell: value < (highest.get(counter) ?? 0) }).toEqual({ counter, fell: false });
      highest.set(counter, value);
    }
    const { samples } = parseOpenMetrics(text).get('jobs_served') ?? { samples: [] };
    expect(samples.length).toBeLessThanOrEqual(21);
    for (const { labels: label } of samples) labels.add(label.tenant ?? '');
  }
  expect(labels.size).toBeGreaterThan(30);
  await stack.drained(60_000);
  for (const [counter, value] of countersOf(await scrape())) highest.set(counter, value);
  // Nothing is told twice or missed, whoever had a label when.
  expect(allServed()).toBeGreaterThan(gone);
  expect(servedOf()).toBe(allServed() - gone);
});

test('what the guide asks a Prometheus finds its labels: shares by tenant, and who is starved', async () => {
  const families = parseOpenMetrics(await scrape());
  const labelsOf = (name: string) => families.get(name)?.samples.map(({ labels }) => labels.tenant) ?? [];
  // sum by (tenant) (rate(jobs_served_total[10m])) / ignoring(tenant) group_left sum(rate(jobs_served_total[10m]))
  expect(new Set(labelsOf('jobs_served')).size).toBe(labelsOf('jobs_served').length);
  // max by (tenant) (tenant_oldest_job_age_seconds) > 900 and on(tenant) (tenant_queue_depth < 100)
  expect(labelsOf('tenant_oldest_job_age_seconds')).toEqual(labelsOf('tenant_queue_depth'));
  expect(labelsOf('tenant_queue_depth').length).toBeGreaterThan(1);
});
