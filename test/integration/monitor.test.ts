import { describe, expect, it } from 'vitest';
import { OTHER, queueMetrics, tenantMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import { watcherOf } from '../../functions/lib/queue/watcher.ts';
import type { Reading } from '../../functions/lib/telemetry/reading.ts';
import { emitReading } from '../../functions/monitor/emit.ts';
import { watch } from '../../functions/monitor/watch.ts';
import { openMetrics } from '../../functions/tenants/open-metrics.ts';
import { emfRecords } from '../support/emf.ts';
import { keysOf } from '../support/keyspace.ts';
import { keptLog } from '../support/log.ts';
import { countersOf, parseOpenMetrics } from '../support/open-metrics.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { allDone, pass, put } from '../support/visits.ts';

/** A look at the queue that must not be overtaken. */
async function look({ client }: TestQueue, log = keptLog().log): Promise<Reading> {
  const reading = await watch(watcherOf(client), log);
  if (reading === undefined) throw new Error('overtaken');
  return reading;
}

/** The lines that the reading is told in. */
function linesOf(reading: Reading): string[] {
  const { log, lines } = keptLog();
  emitReading(log, 'default', reading);
  return lines.map(({ message, fields }) => JSON.stringify({ message, ...fields }));
}

/** Namespace, dimensions and name: what CloudWatch bills as one metric. */
const metricsIn = (lines: readonly string[]) =>
  emfRecords(lines).flatMap(({ values, tenant }) => Object.keys(values).map((name) => `${tenant ?? ''}/${name}`));

async function fill({ client }: TestQueue, names: readonly string[], jobs = 1): Promise<void> {
  await Promise.all(names.map((tenant) => client.enqueue({ tenant, jobs: newJobs(jobs) })));
}

const MOST_METRICS = Object.keys(queueMetrics).length + 21 * Object.keys(tenantMetrics).length;

describe('with 10,000 tenants', () => {
  it('a reading is told in as many metrics as with 21, however the top changes', { timeout: 240_000 }, async () => {
    const queue = await testQueue();
    const names = Array.from({ length: 10_000 }, (_, i) => `tenant ${i} 🐢`);
    await fill(queue, names);
    const startedMs = performance.now();
    const first = await look(queue);
    // Well within its minute.
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    expect(first.queue).toMatchObject({ activeTenants: 10_000, depth: 10_000, starvedTenants: 0 });
    const metrics = new Set(metricsIn(linesOf(first)));
    const counters = countersOf(openMetrics(first));

    for (let round = 1; round <= 5; round++) {
      // Others become the deepest, and are then served.
      await fill(queue, names.slice(round * 100, round * 100 + 20), 5 + round);
      for (let i = 0; i < 20; i++) {
        const visit = await claimOne(queue.client);
        await queue.client.settle(visit, allDone(visit), { claimNext: false });
      }
      const reading = await look(queue);
      const lines = linesOf(reading);
      expect(lines).toHaveLength(1 + reading.tenants.length + 1);
      expect(reading.tenants.length).toBeLessThanOrEqual(20);
      expect(new Set(metricsIn(lines)).size).toBeLessThanOrEqual(MOST_METRICS);
      for (const metric of metricsIn(lines)) metrics.add(metric);
      for (const [counter, value] of countersOf(openMetrics(reading))) {
        expect(value).toBeGreaterThanOrEqual(counters.get(counter) ?? 0);
        counters.set(counter, value);
      }
      expect(reading.other.depth).toBeGreaterThan(9_000);
    }
    // Whoever left its label within the hour is billed as well: 60 tenants at most, and all others.
    const most = Object.keys(queueMetrics).length + 61 * Object.keys(tenantMetrics).length;
    expect(metrics.size).toBeLessThanOrEqual(most);
    expect(metrics.size).toBeGreaterThan(MOST_METRICS);
    // Holding 10,000 tenants against all that is kept of them would take longer than the test.
    await queue.redis.unlink(...(await keysOf(queue)));
  });
});

it('tells starved tenants from those that are held by something of their own, or merely have much to do', async () => {
  const queue = await testQueue();
  const { client } = queue;
  for (const tenant of ['starved', 'paused', 'capped']) await put(client, tenant, 3);
  await put(client, 'large', 100);
  await client.pause('paused');
  await client.subscribe('capped', { maxConcurrency: 0 });
  expect((await look(queue)).queue.starvedTenants).toBe(0);
  await pass(queue, 901_000);
  await put(client, 'new', 3);
  const { queue: told, tenants } = await look(queue);
  expect(told.starvedTenants).toBe(1);
  expect(told.activeTenants).toBe(5);
  expect(tenants.find(({ tenant }) => tenant === 'starved')?.oldestAgeSeconds).toBeGreaterThan(900);
});

it('tells what it swept, which is put right, and goes on where it was', async () => {
  const queue = await testQueue();
  await put(queue.client, 'né:1', 3);
  expect((await look(queue)).sweep).toMatchObject({ differences: 0, differencesSince: 0 });
  await queue.redis.zrem(queue.keys.depths, 'né:1');
  const { log, lines } = keptLog();
  expect((await look(queue, log)).sweep).toMatchObject({ cursor: '0', differences: 1, differencesSince: 1 });
  expect(lines).toContainEqual({
    level: 'error',
    message: 'counter put right',
    fields: { tenant: '~bsOpOjE', counter: 'depths', kept: -1, counted: 3 },
  });
  expect((await look(queue)).sweep).toMatchObject({ differences: 1, differencesSince: 0 });
});

it('tells nothing when another watcher was faster', async () => {
  const queue = await testQueue();
  await put(queue.client, 'a', 3);
  const watcher = watcherOf(queue.client);
  const slow = { ...watcher, stats: async () => (await look(queue), watcher.stats()) };
  expect(await watch(slow, keptLog().log)).toBeUndefined();
});

it('tells once of everything put right, whichever watcher was overtaken or died before it could tell', async () => {
  const queue = await testQueue();
  await put(queue.client, 'a', 3);
  let told = (await look(queue)).sweep.differencesSince;
  const spoil = () => queue.redis.zadd(queue.keys.depths, 99, 'a');
  await spoil();
  const watcher = watcherOf(queue.client);
  const dying = { ...watcher, stats: () => Promise.reject(new Error('killed')) };
  await expect(watch(dying, keptLog().log)).rejects.toThrow('killed');
  for (let round = 0; round < 5; round++) {
    await spoil();
    const readings = await Promise.all([1, 2, 3].map(() => watch(watcherOf(queue.client), keptLog().log)));
    for (const reading of readings) told += reading?.sweep.differencesSince ?? 0;
  }
  told += (await look(queue)).sweep.differencesSince;
  expect(told).toBe(6);
});

it('begins anew where the last reading is of another shape', async () => {
  const queue = await testQueue();
  await put(queue.client, 'a', 3);
  await watcherOf(queue.client).keepReading(0, '{"shape":0}');
  expect((await look(queue)).since).toBeUndefined();
  expect((await look(queue)).since).toMatchObject({ enqueued: 0 });
});

it('shows a Prometheus every metric under its name, odd tenants too', async () => {
  const queue = await testQueue();
  await put(queue.client, OTHER, 4);
  await put(queue.client, 'a"b\\c', 2);
  const visit = await claimOne(queue.client);
  await pass(queue, 2_000);
  const families = parseOpenMetrics(openMetrics(await look(queue)));
  const stated = [...Object.values(queueMetrics), ...Object.values(tenantMetrics)].map((one) => one.openMetrics);
  const shown = [...families].map(([name, { type }]) => (type === 'counter' ? `${name}_total` : name));
  expect(shown.toSorted()).toEqual([...stated, 'rota_reading_timestamp_seconds'].toSorted());
  const depths = families.get('tenant_queue_depth')?.samples.map(({ labels, value }) => [labels.tenant, value]);
  expect(depths).toEqual([
    ['~b3RoZXI', 4 - visit.jobs.length],
    ['~YSJiXGM', 2],
    ['other', 0],
  ]);
  expect(families.get('jobs_served')?.samples[0]?.labels).toEqual({ tenant: '~b3RoZXI', plan: 'free' });
});
