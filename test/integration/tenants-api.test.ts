import { beforeAll, expect, test, vi } from 'vitest';
import type { TenantBody } from '../../functions/contract/tenants.ts';
import { startRecorder } from '../support/recorder.ts';
import { type Job, jobsOf, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

async function call<Body = TenantBody>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(method, `/v1/tenants${path}`, body);
  if (answer.status !== 200) throw new Error(`${method} ${path} was answered ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Lets a tenant's jobs wait. */
async function waiting(tenant: string, jobs: readonly Job[]): Promise<void> {
  await call('POST', `/${tenant}/pause`);
  await stack.enqueue(tenant, jobs);
}

const idle = {
  plan: 'free',
  weight: 1,
  limits: { maxDepth: 5_000, maxConcurrency: 50, maxBytes: null, maxJobsPerSecond: null, burst: null },
  record: {},
  paused: false,
  depth: 0,
  ready: 0,
  delayed: 0,
  inFlight: 0,
  dead: 0,
  oldestAgeSeconds: null,
  estimatedDrainSeconds: 0,
  waiting: null,
  served: 0,
  done: 0,
  failed: 0,
  enqueued: 0,
};

test('shows a tenant that nobody knows as an idle one, and keeps nothing of it', async () => {
  expect(await call('GET', '/nobody')).toMatchObject({ tenant: 'nobody', ...idle });
  expect(await stack.redis.exists(stack.keys.tenant('nobody'))).toBe(0);
});

test('counts what is ready, delayed and dead, and says why nothing runs', async () => {
  await waiting('counted', [...jobsOf(3, 'echo'), { type: 'echo', payload: {}, delaySeconds: 3_600 }]);
  const paused = await call('GET', '/counted');
  expect(paused).toMatchObject({
    paused: true,
    depth: 4,
    ready: 3,
    delayed: 1,
    inFlight: 0,
    enqueued: 4,
    served: 0,
    waiting: { because: 'paused', visitsAhead: null, estimatedStartSeconds: null },
  });
  await vi.waitFor(async () => {
    expect((await call('GET', '/counted')).oldestAgeSeconds).toBeGreaterThan(paused.oldestAgeSeconds ?? Infinity);
  });

  await call('POST', '/counted/resume');
  await stack.enqueue('counted', [{ type: 'fail', payload: { times: 9 }, maxAttempts: 1 }]);
  const expected = { ready: 0, delayed: 1, inFlight: 0, done: 3, failed: 1, dead: 1, served: 4, enqueued: 5 };
  await expect.poll(() => call('GET', '/counted'), { timeout: 20_000 }).toMatchObject(expected);
  expect(await call('GET', '/counted')).toMatchObject({ oldestAgeSeconds: null, waiting: { because: 'delayed' } });
});

const put = (record: object) => call('PUT', '/billed', record);

test('replaces the record as a whole, and goes by overrides before plan before default', async () => {
  const growth = { plan: 'growth', weight: 3, limits: { maxDepth: 100_000, maxConcurrency: 50 } };
  expect(await put({ plan: 'growth' })).toMatchObject({ ...growth, record: { plan: 'growth' } });
  const record = { plan: 'growth', weight: 0.5, maxDepth: 7 };
  expect(await put(record)).toMatchObject({
    ...growth,
    weight: 0.5,
    limits: { maxDepth: 7, maxConcurrency: 50 },
    record,
  });
  // Not one word of the record before is left.
  const concurrency = await put({ maxConcurrency: 2 });
  expect(concurrency).toMatchObject({ plan: 'free', weight: 1, limits: { maxDepth: 5_000, maxConcurrency: 2 } });
  expect(concurrency.record).toEqual({ maxConcurrency: 2 });
  const empty = await put({});
  expect(empty).toMatchObject(idle);
  expect(empty.record).toEqual({});
});

test('keeps the record, when a plan is unknown, and the pause, which is not billing’s', async () => {
  await call('PUT', '/kept', { plan: 'growth', weight: 5 });
  await call('POST', '/kept/pause');
  expect((await stack.call('PUT', '/v1/tenants/kept', { plan: 'gold' })).status).toBe(422);
  expect(await call('GET', '/kept')).toMatchObject({ record: { plan: 'growth', weight: 5 }, paused: true });
  expect(await call('PUT', '/kept', { plan: 'enterprise' })).toMatchObject({ weight: 8, paused: true });
  // Once more is no fault.
  expect(await call('POST', '/kept/pause')).toMatchObject({ paused: true });
  expect(await call('POST', '/kept/resume')).toMatchObject({ paused: false, record: { plan: 'enterprise' } });
  expect(await call('POST', '/kept/resume')).toMatchObject({ paused: false });
});

test('holds a backlog to a lowered maxDepth only at the next enqueue', async () => {
  await waiting('lowered', jobsOf(5, 'echo'));
  expect(await call('PUT', '/lowered', { maxDepth: 3 })).toMatchObject({ depth: 5, limits: { maxDepth: 3 } });
  const answer = await stack.call('POST', '/v1/jobs', { tenant: 'lowered', jobs: jobsOf(1, 'echo') });
  expect(answer).toMatchObject({ status: 429, body: { depth: 5, limit: 3, room: 0 } });
  await call('DELETE', '/lowered');
});

test('deletes the waiting jobs and leaves record, pause, dead letters and counts', async () => {
  const tenant = '/emptied';
  await call('PUT', tenant, { weight: 2 });
  await stack.enqueue('emptied', [{ type: 'fail', payload: { times: 9 }, maxAttempts: 1 }]);
  await expect.poll(() => call('GET', tenant), { timeout: 20_000 }).toMatchObject({ dead: 1 });
  await waiting('emptied', [...jobsOf(2, 'echo'), { type: 'echo', payload: {}, delaySeconds: 60 }]);
  expect(await call('DELETE', `${tenant}/jobs`)).toEqual({
    tenant: 'emptied',
    removed: { ready: 2, delayed: 1, inFlight: 0, dead: 0 },
  });
  expect(await call('GET', tenant)).toMatchObject({ depth: 0, dead: 1, paused: true, weight: 2, enqueued: 4 });
});

test('deletes everything of a tenant, the running job included, whose result then changes nothing', async () => {
  const recorder = await startRecorder('test');
  const letGo = recorder.hold();
  const before = await stack.queueView();
  await call('PUT', '/gone', { plan: 'growth' });
  await stack.enqueue('gone', [{ type: 'fail', payload: { times: 9 }, maxAttempts: 1 }]);
  await expect.poll(() => call('GET', '/gone'), { timeout: 20_000 }).toMatchObject({ dead: 1 });
  await stack.enqueue('gone', [recorder.job()]);
  await vi.waitFor(() => expect(recorder.calls).toHaveLength(1), 20_000);
  await waiting('gone', [...jobsOf(2, 'echo'), { type: 'echo', payload: {}, delaySeconds: 60 }]);

  const removed = { ready: 2, delayed: 1, inFlight: 1, dead: 1 };
  expect(await call('DELETE', '/gone')).toEqual({ tenant: 'gone', removed });
  letGo();
  await expect
    .poll(() => stack.queueView(), { timeout: 20_000 })
    .toMatchObject({ totals: { late: before.totals.late + 1 } });
  expect(await call('GET', '/gone')).toMatchObject({ tenant: 'gone', ...idle });
  const keys = await stack.redis.keys('*');
  expect(keys.filter((key) => key.endsWith(':gone'))).toEqual([]);
  const { depth, inFlight, dead, visitsInFlight } = await stack.queueView();
  expect({ depth, inFlight, dead, visitsInFlight }).toEqual({
    depth: before.depth,
    inFlight: 0,
    dead: before.dead,
    visitsInFlight: 0,
  });
  // Deleting nothing is no fault.
  expect(await call('DELETE', '/gone')).toEqual({
    tenant: 'gone',
    removed: { ready: 0, delayed: 0, inFlight: 0, dead: 0 },
  });
});

/** A page of the list after another, to the end. */
async function pages(sort: string, limit: number): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await call<{ tenants: TenantBody[]; next: string | null }>(
      'GET',
      `?sort=${sort}&limit=${limit}${more}`,
    );
    all.push(page.tenants.map(({ tenant }) => tenant));
    cursor = page.next;
  }
  return all;
}

/** Leaves no jobs of the tests before. */
async function clear(): Promise<void> {
  for (const name of (await pages('depth', 1_000)).flat()) await call('DELETE', `/${name}`);
}

test('lists the tenants with waiting jobs by depth or by age, page by page', async () => {
  await clear();
  // Deepest third, oldest first.
  const depths = [3, 5, 7, 1, 4, 2, 6];
  for (const depth of depths) await waiting(`deep-${depth}`, jobsOf(depth, 'echo'));
  const byDepth = depths.toSorted((a, b) => b - a).map((depth) => `deep-${depth}`);
  const byAge = depths.map((depth) => `deep-${depth}`);
  expect((await pages('depth', 3)).flat()).toEqual(byDepth);
  expect((await pages('oldest', 3)).flat()).toEqual(byAge);
  expect((await pages('depth', 3)).map((page) => page.length)).toEqual([3, 3, 1]);
  expect(await pages('oldest', 1_000)).toEqual([byAge]);
  expect(await pages('depth', 7)).toEqual([byDepth]);
  const { tenants } = await call<{ tenants: TenantBody[] }>('GET', '?limit=1');
  expect(tenants).toMatchObject([{ tenant: 'deep-7', depth: 7, paused: true, waiting: { because: 'paused' } }]);
});

test('serves a backlog by a changed weight at once', async () => {
  await clear();
  // One visit at a time, and a job of known length: the order of the calls is the order of service.
  await stack.configure({ capacity: 1 });
  const recorder = await startRecorder('test');
  const jobs = 240;
  const countOf = (name: string, from: number, to: number) =>
    recorder.calls.slice(from, to).filter(({ tenant }) => tenant === name).length;
  for (const tenant of ['raised', 'equal']) {
    await waiting(
      tenant,
      Array.from({ length: jobs }, () => recorder.job()),
    );
  }
  await Promise.all(['raised', 'equal'].map((tenant) => call('POST', `/${tenant}/resume`)));
  await vi.waitFor(() => expect(recorder.calls.length).toBeGreaterThan(40), 20_000);
  expect(await call('GET', '/raised')).toMatchObject({ share: { entitled: 0.5 } });
  const asked = recorder.calls.length;
  expect(await call('PUT', '/raised', { weight: 4 })).toMatchObject({ share: { entitled: 0.8 } });
  const answered = recorder.calls.length;
  await vi.waitFor(() => expect(recorder.calls).toHaveLength(2 * jobs), 20_000);
  const end = recorder.calls.findLastIndex(({ tenant }) => tenant === 'raised');
  expect(end - answered).toBeGreaterThan(100);
  // Side by side at first, a quantum apart and the first visit that came alone; then four to one, give or take a visit each.
  expect(Math.abs(countOf('raised', 0, asked) - countOf('equal', 0, asked))).toBeLessThanOrEqual(12);
  const [raised, equal] = [countOf('raised', answered, end), countOf('equal', answered, end)];
  expect(Math.abs(equal - raised / 4)).toBeLessThanOrEqual(8);
});
