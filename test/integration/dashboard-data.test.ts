import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Datum } from '../../infra/local/metrics/metric.ts';
import { evaluateWidget } from '../../infra/local/metrics/widget.ts';
import { lookAt } from '../support/monitor.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const MINUTE_MS = 60_000;
const stack = await startStack({ 'rota.capacity': '5' });
const [dashboard] = stack.dashboards();
const graphs = (dashboard?.widgets ?? []).filter(({ type }) => type === 'metric');
const titleOf = ({ title }: Readonly<Record<string, unknown>>) => String(title);

/** Waits until it is so; the tests then say what is missing. */
const until = (what: string, isSo: () => boolean | Promise<boolean>) =>
  vi.waitFor(
    async () => {
      if (!(await isSo())) throw new Error(`not yet: ${what}`);
    },
    { timeout: 90_000, interval: 100 },
  );

const isMeasured = (name: string, functionName?: string) =>
  stack.metrics
    .metrics()
    .some((id) => id.name === name && (functionName === undefined || id.dimensions.FunctionName === functionName));

const nameOf = (alarm: string) => alarm.split('-').at(-1) ?? '';

beforeAll(async () => {
  await stack.redis.hset(stack.keys.config, 'paused', 1);
  for (const plan of ['enterprise', 'growth', 'free']) {
    await stack.subscribe(plan, { plan });
    await stack.enqueue(plan, jobsOf(1_500, 'sleep', { ms: 2 }));
  }
  await lookAt(stack);
  await stack.redis.hset(stack.keys.config, 'paused', 0);
  stack.fire('dispatch');
  await until('a third is served', async () => (await stack.queueView()).totals.served > 1_500);
  await stack.subscribe('capped', { maxDepth: 1 });
  await stack.call('POST', '/v1/jobs', { tenant: 'capped', jobs: jobsOf(2, 'echo') });
  await lookAt(stack);
  await stack.drained(60_000);
  // The load of the cache is a difference of two looks, ten seconds apart.
  await until('the load of the cache is known', () => isMeasured('EngineCPUUtilization'));
  // What a function did is known when it has ended, and these two go on while there is work.
  for (const name of ['dispatch', 'process']) {
    await until(`${name} has ended`, () => isMeasured('Duration', stack.functionName(name)));
  }
}, 180_000);

describe('the dashboard, after a flood', () => {
  const linesOf = (properties: (typeof graphs)[number]['properties']) => {
    const endMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const window = { startMs: endMs - 10 * MINUTE_MS, endMs, stepMs: MINUTE_MS };
    return evaluateWidget(properties, stack.metrics, window).lines;
  };

  it.each(graphs.map(({ properties }) => [titleOf(properties), properties] as const))(
    'has values for every line of "%s"',
    (_, properties) => {
      const rows = Array.isArray(properties.metrics) ? properties.metrics : [];
      const lines = linesOf(properties);
      const shown = rows.flatMap((row: unknown[], i) => (Object(row.at(-1)).visible === false ? [] : [i]));
      // A SEARCH that finds nothing has no line.
      expect(shown.filter((i) => !lines.some(({ row }) => row === i))).toEqual([]);
      const empty = lines.filter(({ values }) => values.every((value) => value === undefined));
      expect(empty.map(({ label }) => label)).toEqual([]);
    },
  );

  it('has the shares of the plans on its first panel', () => {
    const [shares] = graphs;
    const labels = linesOf(shares?.properties ?? {}).map(({ label }) => label);
    for (const plan of ['enterprise', 'growth', 'free'])
      expect(labels).toEqual(expect.arrayContaining([plan, `${plan} entitled`]));
  });
});

describe('every alarm', () => {
  const dimensions = { queue: stack.metricsName };
  const rota = (name: string, value: number) => ({ namespace: 'Rota', name, dimensions, value });
  const ofProcess = (name: string, value: number) => ({
    namespace: 'AWS/Lambda',
    name,
    dimensions: { FunctionName: stack.functionName('process') },
    value,
  });
  /** The dimensions of a service's metric, as they were measured. */
  const measuredBy = (namespace: string, dimension: string) => {
    const found = stack.metrics
      .metrics()
      .find((id) => id.namespace === namespace && Object.keys(id.dimensions).join() === dimension);
    if (found === undefined) throw new Error(`nothing was measured of ${namespace} by ${dimension}`);
    return found.dimensions;
  };
  const ofCache = (name: string, value: number) => ({
    namespace: 'AWS/ElastiCache',
    name,
    dimensions: measuredBy('AWS/ElastiCache', 'CacheClusterId'),
    value,
  });
  const ofApi = (name: string, value: number) => ({
    namespace: 'AWS/ApiGateway',
    name,
    dimensions: measuredBy('AWS/ApiGateway', 'ApiId'),
    value,
  });
  type Measured = Omit<Datum, 'timeMs'>;
  const silent = (servable: number, served: number, used: number, alive: number): Measured[] => [
    rota('ServableTenants', servable),
    rota('Served', served),
    rota('CapacityUsed', used),
    rota('Capacity', 5),
    rota('DispatcherAlive', alive),
  ];

  /** By alarm: the minutes that it takes, what a bad minute measures, and what good ones do. */
  const cases: Readonly<Record<string, { minutes: number; bad: () => Measured[]; good: () => Measured[][] }>> = {
    TenantStarved: { minutes: 10, bad: () => [rota('StarvedTenants', 1)], good: () => [[rota('StarvedTenants', 0)]] },
    DispatcherSilent: {
      minutes: 5,
      bad: () => silent(2, 0, 0, 1),
      // Nothing to do; at work; every slot at work on long jobs.
      good: () => [silent(0, 0, 0, 0), silent(2, 10, 3, 1), silent(2, 0, 5, 1)],
    },
    DeadLettersDropped: {
      minutes: 1,
      bad: () => [rota('DeadLettersDropped', 1)],
      good: () => [[rota('DeadLettersDropped', 0)]],
    },
    DeadLetters: { minutes: 1, bad: () => [rota('Died', 1)], good: () => [[rota('Died', 0)]] },
    SweepDifference: {
      minutes: 1,
      bad: () => [rota('SweepDifferences', 1)],
      good: () => [[rota('SweepDifferences', 0)]],
    },
    RedisMemory: {
      minutes: 5,
      bad: () => [ofCache('DatabaseMemoryUsagePercentage', 81)],
      good: () => [[ofCache('DatabaseMemoryUsagePercentage', 80)]],
    },
    RedisEngineCPU: {
      minutes: 5,
      bad: () => [ofCache('EngineCPUUtilization', 81)],
      good: () => [[ofCache('EngineCPUUtilization', 80)]],
    },
    ApiErrors: {
      minutes: 3,
      bad: () => [ofApi('Count', 100), ofApi('5xx', 2)],
      good: () => [[ofApi('Count', 100), ofApi('5xx', 1)], [ofApi('Count', 0), ofApi('5xx', 0)], []],
    },
    AsyncEventAge: {
      minutes: 3,
      bad: () => [ofProcess('AsyncEventAge', 10_001)],
      good: () => [[ofProcess('AsyncEventAge', 10_000)], []],
    },
    AsyncEventsDropped: { minutes: 1, bad: () => [ofProcess('AsyncEventsDropped', 1)], good: () => [[]] },
  };

  // Far from what was really measured, and a stretch of its own for each alarm.
  let nowMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS + 60 * MINUTE_MS;
  const pass = (minutes: number, measured: readonly Measured[]) => {
    for (let i = 0; i < minutes; i++) {
      for (const datum of measured) stack.metrics.record({ ...datum, timeMs: nowMs });
      nowMs += MINUTE_MS;
    }
  };
  const stateOf = (alarm: string) => stack.alarms(nowMs).find(({ name }) => nameOf(name) === alarm)?.state;

  it('of the template is in the table', () => {
    expect(Object.keys(cases).toSorted()).toEqual(
      stack
        .alarms()
        .map(({ name }) => nameOf(name))
        .toSorted(),
    );
  });

  it.each(Object.entries(cases))(
    '%s fires after its minutes, not before, and recovers',
    (alarm, { minutes, bad, good }) => {
      for (const [i, measured] of good().entries()) {
        pass(15, measured);
        expect(stateOf(alarm), `good ${i}`).toBe('OK');
        pass(minutes - 1, bad());
        expect(stateOf(alarm), 'a minute before').toBe('OK');
        pass(1, bad());
        expect(stateOf(alarm), 'bad').toBe('ALARM');
        pass(15, measured);
        expect(stateOf(alarm), 'good again').toBe('OK');
      }
    },
  );

  it('DispatcherSilent tells of a monitor that has stopped', () => {
    pass(10, silent(2, 10, 3, 1));
    expect(stateOf('DispatcherSilent')).toBe('OK');
    pass(10, []);
    expect(stateOf('DispatcherSilent')).toBe('INSUFFICIENT_DATA');
  });
});
