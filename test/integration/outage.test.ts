import { expect, test, vi } from 'vitest';
import { checkInvariants } from '../support/invariants.ts';
import { startRecorder } from '../support/recorder.ts';
import { type Answer, startStack } from '../support/stack.ts';

const stack = await startStack();
const recorder = await startRecorder();
const CAPACITY = 8;
await stack.configure({ capacity: CAPACITY });

const jobs = (count: number) => Array.from({ length: count }, () => recorder.job());
const post = () => stack.call('POST', '/v1/jobs', { tenant: 'acme', jobs: jobs(1) });

/** An answer of 503 as the contract has it, and in time: a gateway or a caller would not wait for much longer. */
async function expectUnavailable(call: () => Promise<Answer>): Promise<void> {
  const startedMs = performance.now();
  const { status, headers, body } = await call();
  // 1.4 s on a machine that has nothing else to do.
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  expect(status).toBe(503);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(body).toMatchObject({
    type: 'urn:rota:problem:unavailable',
    title: 'The queue cannot be reached',
    status: 503,
    requestId: expect.stringMatching(/./),
  });
}

async function expectAllUnavailable(): Promise<void> {
  // One call of each function at a time: a second would wait for the first one's environment.
  const showQueue = () => stack.call('GET', '/v1/queue');
  const subscribe = () => stack.call('PUT', '/v1/tenants/acme', { plan: 'growth' });
  await Promise.all([expectUnavailable(post), expectUnavailable(showQueue)]);
  // The same by an environment that starts only now.
  await stack.kill('enqueue', 8);
  await Promise.all([expectUnavailable(post), expectUnavailable(subscribe)]);
}

/** Enqueues jobs and waits until every slot is busy with one, held by the recorder. */
async function busyStack(tenant: string) {
  const before = recorder.calls.length;
  const release = recorder.hold();
  const ids = await stack.enqueue(tenant, jobs(50));
  await vi.waitFor(() => expect(recorder.calls.length - before).toBe(CAPACITY), { timeout: 10_000 });
  return { ids, release };
}

/** Waits until an enqueue is admitted again, and its job runs. */
async function expectRecovery(): Promise<void> {
  const accepted = await vi.waitFor(
    async () => {
      const answer = await stack.call<{ jobs: { id: string }[] }>('POST', '/v1/jobs', {
        tenant: 'late',
        jobs: [recorder.job()],
      });
      expect(answer.status).toBe(202);
      return answer.body;
    },
    { timeout: 5_000 },
  );
  await vi.waitFor(() => expect(recorder.runs().has(accepted.jobs[0]?.id ?? '')).toBe(true), { timeout: 10_000 });
  await stack.drained();
  expect(await checkInvariants(stack.redis, stack.queue)).toEqual([]);
}

/** Process id of the Redis server. */
async function redisPid(): Promise<number> {
  const info = String(await stack.redis.nodes('master')[0]?.info('server'));
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}

test('does not notice that the scripts are flushed under load', async () => {
  const ids: string[] = [];
  let flushes = 0;
  const produce = async () => {
    for (let i = 0; i < 20; i++) ids.push(...(await stack.enqueue('flushed', jobs(50))));
  };
  const flush = async () => {
    do {
      await stack.redis.nodes('master')[0]?.script('FLUSH');
      flushes++;
    } while (ids.length < 1_000 || (await stack.tenant('flushed')).done < 1_000);
  };
  await Promise.all([flush(), produce()]);
  await stack.drained();
  expect(flushes).toBeGreaterThan(50);
  expect([...recorder.runs()].filter(([, runs]) => runs > 1)).toEqual([]);
  expect(new Set(recorder.runs().keys())).toEqual(new Set(ids));
  expect(await stack.tenant('flushed')).toMatchObject({ done: 1_000, failed: 0 });
  expect(stack.problems).toEqual([]);
  expect(stack.logs().filter((line) => /"level":"(WARN|ERROR)"/.test(line))).toEqual([]);
});

test('answers 503 while Redis hangs, and goes on with the same jobs when it answers again', async () => {
  const { ids, release } = await busyStack('hung');
  const pid = await redisPid();
  process.kill(pid, 'SIGSTOP');
  try {
    // What the workers finish meanwhile is settled later.
    release();
    await expectAllUnavailable();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await expectRecovery();
  const runs = recorder.runs();
  expect(ids.map((id) => runs.get(id))).toEqual(ids.map(() => 1));
});

test('answers 503 while Redis refuses writes, and goes on with the same jobs when it takes them again', async () => {
  const { ids, release } = await busyStack('refused');
  const [node] = stack.redis.nodes('master');
  const { enqueued } = await stack.tenant('acme');
  await node?.config('SET', 'min-replicas-to-write', '1');
  try {
    release();
    for (let i = 0; i < 3; i++) await expectUnavailable(post);
  } finally {
    await node?.config('SET', 'min-replicas-to-write', '0');
  }
  expect(await stack.tenant('acme')).toMatchObject({ enqueued });
  await expectRecovery();
  const runs = recorder.runs();
  expect(ids.map((id) => runs.get(id))).toEqual(ids.map(() => 1));
});

test('answers 503 while Redis is gone, and configures an empty one when it is back', async () => {
  const { release } = await busyStack('lost');
  await stack.stopRedis();
  await expectAllUnavailable();
  await stack.restartRedis();
  // First seen by an environment that has configured the old one, at its start.
  await vi.waitFor(async () => expect(await stack.queueView()).toMatchObject({ capacity: 40 }), { timeout: 5_000 });
  // Workers that still hold jobs of the old one must not disturb the new one.
  release();
  await expectRecovery();
  expect(await stack.tenant('lost')).toMatchObject({ depth: 0, inFlight: 0, enqueued: 0 });
  expect(await stack.tenant('late')).toMatchObject({ done: 1, weight: 1, limits: { maxDepth: 5_000 } });
});
