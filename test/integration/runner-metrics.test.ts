import { beforeAll, expect, test, vi } from 'vitest';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  stack.fire('monitor');
  await stack.enqueue('acme', jobsOf(20, 'echo'));
  await stack.call('GET', '/v1/nothing');
  await stack.drained();
});

/** Waits for a value of a metric of the last minute. */
async function value(namespace: string, name: string, dimensions: Record<string, string>, statistic: string) {
  const now = Date.now();
  const grid = { startMs: now - 170_000, endMs: now + 10_000, periodMs: 180_000, stepMs: 180_000 };
  return await vi.waitFor(() => {
    const [window] = stack.metrics.query({ namespace, name, dimensions }, grid);
    if (!window) throw new Error(`${namespace} ${name} ${JSON.stringify(dimensions)} has no value`);
    return window.get(statistic);
  }, 20_000);
}

const functionNamed = (name: string) =>
  stack.functions.find((declared) => declared.name.endsWith(`-${name}`))?.name ?? '';

const ofFunction = (metric: string, statistic: string, name: string) =>
  value('AWS/Lambda', metric, { FunctionName: functionNamed(name) }, statistic);

test('what the functions log in the embedded metric format is there', async () => {
  expect(await value('Rota', 'DispatcherAlive', { queue: stack.metricsName }, 'SampleCount')).toBe(1);
});

test('Lambda counts invocations, errors, throttles, durations and events of each function', async () => {
  expect(await ofFunction('Invocations', 'Sum', 'enqueue')).toBe(1);
  expect(await ofFunction('Errors', 'Sum', 'enqueue')).toBe(0);
  expect(await ofFunction('Throttles', 'Sum', 'enqueue')).toBe(0);
  expect(await ofFunction('Duration', 'Maximum', 'enqueue')).toBeGreaterThan(0);
  expect(await ofFunction('ConcurrentExecutions', 'Maximum', 'dispatch')).toBe(1);
  const received = await ofFunction('AsyncEventsReceived', 'Sum', 'process');
  expect(received).toBeGreaterThanOrEqual(1);
  expect(await ofFunction('AsyncEventAge', 'SampleCount', 'process')).toBe(received);
  expect(await ofFunction('AsyncEventsDropped', 'Sum', 'process')).toBe(0);
});

test('the API counts what it answers, by itself and by its functions', async () => {
  const api = stack.metrics.metrics().find(({ namespace }) => namespace === 'AWS/ApiGateway');
  const { ApiId = '' } = api?.dimensions ?? {};
  for (const dimensions of [{ ApiId }, { ApiId, Stage: '$default' }] as Record<string, string>[]) {
    expect(await value('AWS/ApiGateway', '4xx', dimensions, 'Sum')).toBe(1);
    expect(await value('AWS/ApiGateway', '5xx', dimensions, 'Sum')).toBe(0);
    const answered = await value('AWS/ApiGateway', 'Count', dimensions, 'Sum');
    expect(await value('AWS/ApiGateway', 'Latency', dimensions, 'SampleCount')).toBe(answered);
    // The route that there is not was answered by the gateway alone.
    expect(await value('AWS/ApiGateway', 'IntegrationLatency', dimensions, 'SampleCount')).toBe(answered - 1);
  }
});

test('the cache tells of its memory and connections', async () => {
  const cache = stack.metrics.metrics().find(({ namespace }) => namespace === 'AWS/ElastiCache');
  expect(cache?.dimensions.CacheClusterId).toMatch(/-0001-001$/);
  const of = (name: string, statistic: string) => value('AWS/ElastiCache', name, cache?.dimensions ?? {}, statistic);
  expect(await of('DatabaseMemoryUsagePercentage', 'Maximum')).toBeGreaterThan(0);
  expect(await of('DatabaseMemoryUsagePercentage', 'Maximum')).toBeLessThan(100);
  expect(await of('CurrConnections', 'Maximum')).toBeGreaterThan(1);
});
