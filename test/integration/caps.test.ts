import { expect, test } from 'vitest';
import { snapshot } from '../support/keyspace.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const stack = await startStack();
const post = (tenant: string, count: number) => stack.call('POST', '/v1/jobs', { tenant, jobs: jobsOf(count, 'echo') });

test('refuses what does not fit with the state of things, and changes nothing', async () => {
  await stack.subscribe('acme', { plan: 'free', maxDepth: 100 });
  await stack.call('POST', '/v1/tenants/acme/pause');
  await stack.enqueue('acme', jobsOf(60, 'echo'));
  const before = await snapshot(stack);

  const tooMany = await post('acme', 41);
  expect(tooMany.status).toBe(429);
  expect(tooMany.headers.get('content-type')).toBe('application/problem+json');
  // Nothing was served yet, so that nobody knows how long it takes.
  expect(tooMany.headers.get('retry-after')).toBe('60');
  expect(tooMany.body).toEqual({
    type: 'urn:rota:problem:tenant_full',
    title: 'The tenant has no room for these jobs',
    status: 429,
    detail: expect.stringContaining('room for 40 of its 41 jobs'),
    requestId: expect.stringMatching(/./),
    tenant: 'acme',
    cap: 'maxDepth',
    depth: 60,
    limit: 100,
    room: 40,
    estimatedDrainSeconds: null,
  });

  const never = await post('acme', 101);
  expect(never.status).toBe(429);
  expect(never.headers.get('retry-after')).toBe('3600');
  expect(never.body).toMatchObject({ type: 'urn:rota:problem:batch_exceeds_limit', depth: 60, limit: 100, room: 40 });
  expect(await snapshot(stack)).toEqual(before);

  expect((await post('acme', 40)).status).toBe(202);
  expect(await post('acme', 1)).toMatchObject({ status: 429, body: { depth: 100, limit: 100, room: 0 } });
});

test('says when a batch will fit, by the rate that the tenant is served at', async () => {
  await stack.subscribe('busy', { plan: 'free', maxDepth: 500, maxConcurrency: 1 });
  await stack.enqueue('busy', jobsOf(500, 'sleep', { ms: 50 }));
  await expect
    .poll(async () => (await stack.tenant('busy')).estimatedDrainSeconds, { timeout: 10_000 })
    .toEqual(expect.any(Number));
  const { status, headers, body } = await stack.call<Record<string, number>>('POST', '/v1/jobs', {
    tenant: 'busy',
    jobs: jobsOf(500, 'echo'),
  });
  expect(status).toBe(429);
  // At 20 jobs a second, or fewer on a slow machine: as many as the batch lacks room for, of those that wait.
  const { depth = 0, room = 0, estimatedDrainSeconds = 0 } = body;
  const lacking = 500 - room;
  const perSecond = depth / estimatedDrainSeconds;
  expect(perSecond).toBeGreaterThan(1);
  expect(perSecond).toBeLessThan(25);
  expect(Number(headers.get('retry-after'))).toBeCloseTo(lacking / perSecond, -1);
  await stack.call('DELETE', '/v1/tenants/busy');
});

test('admits exactly 100 of 1,000 enqueues at once at a cap of 100', async () => {
  await stack.subscribe('crowd', { plan: 'free', maxDepth: 100 });
  await stack.call('POST', '/v1/tenants/crowd/pause');
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => post('crowd', 1)));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([count(202), count(429)]).toEqual([100, 900]);
  expect(await stack.tenant('crowd')).toMatchObject({ depth: 100, enqueued: 100 });
  expect(await stack.redis.llen(stack.keys.ready('crowd'))).toBe(100);
});
