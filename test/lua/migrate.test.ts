import { type Redis, Cluster } from 'ioredis';
import { expect, it } from 'vitest';
import { openCore } from '../../functions/lib/queue/core.ts';
import { exporterOf } from '../../functions/lib/queue/exporter.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import type { ElementRules } from '../../functions/migrate/element.ts';
import { moveIn, type MoveInOptions } from '../../functions/migrate/move-in.ts';
import { listSink, moveOut } from '../../functions/migrate/move-out.ts';
import { besideOf, lineSource, listSource, type Source } from '../../functions/migrate/source-list.ts';
import { survey } from '../../functions/migrate/survey.ts';
import { type TestQueue, testQueue } from '../support/queue.ts';
import { put } from '../support/visits.ts';

const JOBS = 100_000;
const TENANTS = 1_000;
const WORKERS = 8;
const rules: ElementRules = {
  format: 'resque',
  tenantPath: 'args[0].account_id',
  types: {},
  knownTypes: null,
  maxAttempts: 5,
};

const element = (tenant: string | number, n: number) =>
  `{"class":"Import","args":[{"account_id":"${tenant}","n":${n}}]}`;
const numberIn = (payload: string) => Number(/"n":(\d+)/.exec(payload)?.[1]);

const sourceOf = (redis: Redis | Cluster, list: string): Source =>
  listSource({ redis, list, end: 'head', hashPrefix: '', rejects: besideOf(list, 'rejects') });

const never = new AbortController().signal;
const optionsFor = (
  queue: Pick<QueueClient, 'enqueue'>,
  source: Source,
  given: Partial<MoveInOptions> = {},
): MoveInOptions => ({
  source,
  queue,
  rules,
  batchSize: 20_000,
  rememberedMs: 86_400_000,
  signal: never,
  onProgress: () => undefined,
  ...given,
});

/** Works until it is told that no more will come and nothing is left; counts how often each job was run. */
async function work(client: QueueClient, runs: Map<number, number>, isOver: () => boolean): Promise<void> {
  for (;;) {
    const over = isOver();
    const { visits } = await client.claim(1);
    const [lease] = visits;
    if (!lease) {
      const { ready, inFlight } = await client.stats();
      if (over && ready + inFlight === 0) return;
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const opened = await client.open(lease, 'nonce');
    if (opened.outcome !== 'opened') continue;
    let { visit } = opened;
    for (;;) {
      for (const { payload } of visit.jobs) runs.set(numberIn(payload), (runs.get(numberIn(payload)) ?? 0) + 1);
      const results = visit.jobs.map(({ index }) => ({ index, result: 'done' as const, durationMs: 0 }));
      const settled = await client.settle(visit, results, { claimNext: true });
      if (settled.outcome !== 'continued') break;
      ({ visit } = settled);
    }
  }
}

async function fill(redis: Redis | Cluster, list: string, elements: readonly string[]): Promise<void> {
  for (let at = 0; at < elements.length; at += 5_000) await redis.rpush(list, ...elements.slice(at, at + 5_000));
}

it(`moves ${JOBS} jobs of ${TENANTS} tenants in while ${WORKERS} workers run and producers add, each once`, {
  timeout: 600_000,
}, async () => {
  const free = { weight: 1, maxDepth: 1_000_000, maxConcurrency: 50 };
  const queue = await testQueue({ plans: { free }, quantum: 50, maxVisitMs: 600_000 });
  const list = `{${queue.name}}:resque:queue:imports`;
  await fill(
    queue.redis,
    list,
    Array.from({ length: JOBS }, (_, n) => element(n % TENANTS, n)),
  );
  const runs = new Map<number, number>();
  let moving = true;
  const workers = Array.from({ length: WORKERS }, () => work(queue.client, runs, () => !moving));
  // Producers of both sides: the old list still gets elements, and Rota jobs of its own.
  const added = 2_000;
  const produce = async () => {
    for (let n = JOBS; n < JOBS + added; n += 20) {
      await queue.redis.rpush(list, ...Array.from({ length: 10 }, (_, i) => element((n + i) % TENANTS, n + i)));
      const jobs = Array.from({ length: 10 }, (_, i) => n + 10 + i);
      for (const own of jobs.slice(0, 1))
        await put(queue.client, String(own % TENANTS), 1, { payload: `{"n":${own}}` });
      for (const own of jobs.slice(1)) await queue.redis.rpush(list, element(own % TENANTS, own));
    }
  };
  const producing = produce();
  const first = await moveIn(optionsFor(queue.client, sourceOf(queue.redis, list)));
  await producing;
  const rest = await moveIn(optionsFor(queue.client, sourceOf(queue.redis, list)));
  moving = false;
  await Promise.all(workers);
  expect(first.moved + rest.moved).toBe(JOBS + added - added / 20);
  expect([first.rejected, rest.rejected]).toEqual([0, 0]);
  expect(runs.size).toBe(JOBS + added);
  expect([...runs.values()].filter((times) => times !== 1)).toEqual([]);
  expect(await queue.redis.llen(list)).toBe(0);
});

/** A queue and a source that fail at the given step, as a process that is killed there: before it, or with its answer lost. */
function failing(queue: TestQueue, source: Source, step: number, lost: boolean) {
  let steps = 0;
  const guard = async <T>(act: () => Promise<T>): Promise<T> => {
    steps += 1;
    if (steps === step && !lost) throw new Error('killed');
    const answer = await act();
    if (steps === step) throw new Error('killed');
    return answer;
  };
  return {
    queue: { enqueue: (request: Parameters<QueueClient['enqueue']>[0]) => guard(() => queue.client.enqueue(request)) },
    source: {
      ...source,
      take: (most: number, given: string) => guard(() => source.take(most, given)),
      finish: (...given: Parameters<Source['finish']>) => guard(() => source.finish(...given)),
    },
    over: () => steps < step,
  };
}

it('goes on after a death at any step, with nothing lost and nothing twice', async () => {
  for (let step = 1; ; step++) {
    const queue = await testQueue();
    const list = `{${queue.name}}:list`;
    await fill(queue.redis, list, [...Array.from({ length: 30 }, (_, n) => element(n % 3, n)), 'reject me']);
    const plan = failing(queue, sourceOf(queue.redis, list), step, step % 2 === 0);
    await moveIn(optionsFor(plan.queue, plan.source, { batchSize: 8 })).catch((error: unknown) => {
      if (!(error instanceof Error) || error.message !== 'killed') throw error;
    });
    await moveIn(optionsFor(queue.client, sourceOf(queue.redis, list), { batchSize: 8 }));
    const waiting = await Promise.all(['0', '1', '2'].map((tenant) => queue.client.waitingJobs(tenant, 'ready', 99)));
    const numbers = waiting.map(({ entries }) => entries.map(({ payload }) => numberIn(payload)));
    expect(numbers).toEqual([0, 1, 2].map((tenant) => Array.from({ length: 10 }, (_, i) => 3 * i + tenant)));
    expect(await queue.redis.lrange(besideOf(list, 'rejects'), 0, -1)).toEqual([
      JSON.stringify({ reason: 'not JSON', element: 'reject me' }),
    ]);
    expect(await queue.redis.exists(besideOf(list, 'moving'))).toBe(0);
    if (plan.over()) return;
  }
});

it('waits while a tenant is full, says so, and leaves the batch aside when it is told to end meanwhile', async () => {
  const queue = await testQueue();
  const list = `{${queue.name}}:list`;
  await queue.client.subscribe('a', { maxDepth: 2 });
  await fill(queue.redis, list, [element('a', 0), element('a', 1), element('a', 2), element('b', 3)]);
  const ending = new AbortController();
  const told: string[][] = [];
  const moved = await moveIn(
    optionsFor(queue.client, sourceOf(queue.redis, list), {
      signal: ending.signal,
      onProgress: ({ full }) => {
        told.push([...full]);
        if (full.length > 0) ending.abort();
      },
    }),
  );
  expect(moved.finished).toBe(false);
  expect(told).toContainEqual(['a']);
  await queue.client.subscribe('a', {});
  expect(await moveIn(optionsFor(queue.client, sourceOf(queue.redis, list)))).toMatchObject({ finished: true });
  expect(await queue.client.inspect('a')).toMatchObject({ ready: 3 });
  expect(await queue.client.inspect('b')).toMatchObject({ ready: 1 });
});

it('refuses a batch that Rota may have forgotten', async () => {
  const queue = await testQueue();
  const list = `{${queue.name}}:list`;
  await fill(queue.redis, list, [element('a', 0)]);
  const source = sourceOf(queue.redis, list);
  await source.take(9, JSON.stringify(rules));
  await expect(moveIn(optionsFor(queue.client, source, { rememberedMs: 0 }))).rejects.toThrow(
    'longer than Rota remembers',
  );
});

it('refuses to go on with a batch by other rules, by which its elements could be of other tenants', async () => {
  const queue = await testQueue();
  const list = `{${queue.name}}:list`;
  await fill(queue.redis, list, [element('a', 0)]);
  const source = sourceOf(queue.redis, list);
  await source.take(9, JSON.stringify(rules));
  const other = { ...rules, tenantPath: 'args[0].n' };
  await expect(moveIn(optionsFor(queue.client, source, { rules: other }))).rejects.toThrow('begun with other options');
  expect(await moveIn(optionsFor(queue.client, source))).toMatchObject({ moved: 1, finished: true });
});

const line = (n: number) => JSON.stringify({ tenant: 'a', type: 'echo', payload: { n } });

it('moves lines of JSON in, each once however often the same text is given, and other lines under the same name', async () => {
  const queue = await testQueue();
  const move = async (lines: string[]) => {
    const rejects: string[] = [];
    const given = (async function* () {
      yield* lines;
    })();
    const source = lineSource('stdin', given, 2, async (reject) => void rejects.push(reject));
    await moveIn(optionsFor(queue.client, source, { rules: { ...rules, format: 'jsonl' } }));
    return rejects;
  };
  const first = [line(0), line(1), '', line(2), '{}', line(0), line(1)];
  expect(await move(first)).toHaveLength(1);
  await move(first);
  await move([line(7)]);
  const { entries } = await queue.client.waitingJobs('a', 'ready', 99);
  expect(entries.map(({ payload }) => numberIn(payload))).toEqual([0, 1, 2, 0, 1, 7]);
});

it('takes the waiting jobs of BullMQ, the oldest first, with their data', async () => {
  const queue = await testQueue();
  const prefix = `bull:{${queue.name}}:`;
  const wait = `${prefix}wait`;
  for (const n of [1, 2, 3]) {
    const data = JSON.stringify({ account: { id: 'acme' }, n });
    await queue.redis.hset(`${prefix}${n}`, { name: 'import', data, opts: '{"attempts":3}' });
    await queue.redis.lpush(wait, String(n));
  }
  const source = listSource({
    redis: queue.redis,
    list: wait,
    end: 'tail',
    hashPrefix: prefix,
    rejects: besideOf(wait, 'rejects'),
  });
  await moveIn(
    optionsFor(queue.client, source, { batchSize: 2, rules: { ...rules, format: 'bullmq', tenantPath: 'account.id' } }),
  );
  const { entries } = await queue.client.waitingJobs('acme', 'ready', 9);
  expect(entries.map(({ type, payload, maxAttempts }) => [type, numberIn(payload), maxAttempts])).toEqual([
    ['import', 1, 3],
    ['import', 2, 3],
    ['import', 3, 3],
  ]);
  expect(await queue.redis.keys(`${prefix}*`)).toEqual([]);
});

it('counts what it would do, and changes nothing', async () => {
  const queue = await testQueue();
  const list = `{${queue.name}}:list`;
  await fill(queue.redis, list, [...Array.from({ length: 2_500 }, (_, n) => element(n % 2, n)), '{}']);
  const found = await survey(sourceOf(queue.redis, list), rules, { signal: never, onProgress: () => undefined });
  expect(found).toMatchObject({ elements: 2_501, ofOthers: 0 });
  expect([...found.tenants]).toEqual([
    ['0', 1_250],
    ['1', 1_250],
  ]);
  expect([...found.reasons.values()]).toEqual([1]);
  expect(await queue.redis.llen(list)).toBe(2_501);
});

it('moves the rest back out in order, each once, also after a death between any two steps', async () => {
  for (const dieAt of [3, 8, 9, 11]) {
    const queue = await testQueue();
    const [list, back] = [`{${queue.name}}:list`, `{${queue.name}}:back`];
    const elements = Array.from({ length: 540 }, (_, n) => element(n % 7, n));
    await fill(queue.redis, list, elements);
    // Batches of one, so that the order of the list is that of the enqueues, across tenants too.
    await moveIn(optionsFor(queue.client, sourceOf(queue.redis, list), { batchSize: 1 }));
    const exporter = exporterOf(openCore({ redis: queue.connect(), queue: queue.name, shard: 0 }));
    const sink = listSink(queue.redis, back, 'resque');
    let steps = 0;
    const mortal =
      <A extends unknown[], R>(act: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const answer = await act(...given);
        if ((steps += 1) === dieAt) throw new Error('killed');
        return answer;
      };
    const out = { queue: exporter, sink, signal: never, onProgress: () => undefined };
    if (dieAt > 0) {
      const dying = {
        ...exporter,
        withdraw: mortal((tenant: string, count: number) => exporter.withdraw(tenant, count)),
        forget: mortal((count: number) => exporter.forget(count)),
      };
      await moveOut({
        ...out,
        queue: dying,
        sink: { begun: () => sink.begun(), write: mortal((jobs) => sink.write(jobs)) },
      }).catch(() => undefined);
    }
    expect(await moveOut(out)).toMatchObject({ finished: true });
    await sink.close();
    expect(await queue.redis.lrange(back, 0, -1)).toEqual(elements);
    expect(await queue.client.stats()).toMatchObject({ ready: 0, bytes: 0 });
  }
});
