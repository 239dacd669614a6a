import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { QueueUnavailable, QueueUnconfigured, ScriptFailed } from '../../functions/lib/queue/errors.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { defineScript, type RedisConnection, runScript } from '../../functions/lib/queue/script.ts';
import { claim } from '../../functions/lib/queue/scripts/claim.ts';
import { enqueue } from '../../functions/lib/queue/scripts/enqueue.ts';
import { extend } from '../../functions/lib/queue/scripts/extend.ts';
import { open } from '../../functions/lib/queue/scripts/open.ts';
import { release } from '../../functions/lib/queue/scripts/release.ts';
import { settle } from '../../functions/lib/queue/scripts/settle.ts';
import { stats } from '../../functions/lib/queue/scripts/stats.ts';
import { tick } from '../../functions/lib/queue/scripts/tick.ts';
import { startRedis } from '../../infra/local/redis-server.ts';
import { claimOne, connectShared, testQueue } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';
import { allDone, put } from '../support/visits.ts';

/** The commands that a connection is given, in order, while it really runs them. */
function watched(redis: RedisConnection) {
  const commands: string[] = [];
  const callBuffer = (command: string, ...args: (string | number | Buffer)[]) => {
    commands.push(command);
    return redis.callBuffer(command, ...args);
  };
  const connection = new Proxy(redis, {
    get: (target, name) => (name === 'callBuffer' ? callBuffer : Reflect.get(target, name)),
  });
  return { connection, commands };
}

/** A Redis of its own, which a test may empty, fill or stop. */
async function ownRedis(args: string[] = []) {
  const server = await startRedis({ cluster: false, args });
  const redis = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  const client = createQueueClient({ redis, queue: 'q', shard: 0 });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { server, redis, client, keys: queueKeys('q', 0) };
}

const script = (source: string) =>
  defineScript({ name: 'probe', parts: [source], allowOom: false, fields: [], decode: (reply) => reply });

describe('a script', () => {
  it('is sent by its SHA, and by its source once where the server does not know it', async () => {
    const redis = connectShared();
    const { connection, commands } = watched(redis);
    const fresh = script(`return {'${Math.random()}'}`);
    expect(fresh.sha).toBe(createHash('sha1').update(fresh.source).digest('hex'));
    for (let i = 0; i < 3; i++) await runScript(connection, '{k}', fresh, {});
    expect(commands).toEqual(['evalsha', 'eval', 'evalsha', 'evalsha']);
    redis.disconnect();
  });

  it('flushed from the server’s memory at any time goes unnoticed', async () => {
    const { redis, client } = await ownRedis();
    await client.configure(testConfig());
    const flush = () => redis.script('FLUSH');
    await flush();
    await put(client, 'acme', 3);
    await flush();
    const visit = await claimOne(client);
    await flush();
    const next = await client.settle(visit, allDone(visit), { claimNext: true });
    expect(next.outcome).toBe('continued');
    const flushes = Array.from({ length: 4 }, flush);
    const racing = Array.from({ length: 16 }, (_, i) => client.enqueue({ tenant: `t${i}`, jobs: newJobs(2) }));
    for (const answer of await Promise.all(racing)) expect(answer).toMatchObject({ outcome: 'accepted', depth: 2 });
    await Promise.all(flushes);
    expect(await client.stats()).toMatchObject({ enqueued: 3 + 16 * 2 });
  });

  it('of each verb may run on a full Redis, but for the one that fills it', async () => {
    const firstLines = [claim, open, extend, settle, release, tick].map(({ source }) => source.split('\n', 1)[0]);
    expect(firstLines).toEqual(Array(6).fill('#!lua flags=allow-oom'));
    expect(enqueue.source.split('\n', 1)).toEqual(['#!lua']);
  });
});

describe('an emptied Redis', () => {
  it('is configured again by the client that needs it', async () => {
    const { redis, client } = await ownRedis();
    await client.configure(testConfig({ capacity: 3 }));
    await put(client, 'acme', 2);
    const visit = await claimOne(client);
    await redis.flushall();
    expect(await client.stats()).toMatchObject({ capacity: 3, ready: 0, enqueued: 0 });
    await redis.flushall();
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(2) })).toMatchObject({ outcome: 'accepted', depth: 2 });
    await redis.flushall();
    expect(await client.settle(visit, allDone(visit), { claimNext: true })).toEqual({ outcome: 'stale' });
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
    await redis.flushall();
    for (const call of [
      () => client.tick(),
      () => client.inspect('acme'),
      () => client.list('depth', 1),
      () => client.subscribe('acme', { plan: 'growth' }),
      () => client.pause('acme'),
      () => client.purge('acme', 'everything'),
    ]) {
      await redis.flushall();
      await call();
    }
  });

  it('that nobody has configured is an error that says so', async () => {
    const { client } = await ownRedis();
    const answers = await Promise.allSettled([
      client.enqueue({ tenant: 'acme', jobs: newJobs(1) }),
      client.claim(1),
      client.tick(),
      client.stats(),
      client.inspect('acme'),
      client.list('depth', 1),
      client.subscribe('acme', {}),
      client.pause('acme'),
      client.purge('acme', 'jobs'),
    ]);
    for (const answer of answers) {
      if (answer.status === 'fulfilled') throw new Error('answered without a configuration');
      expect(answer.reason).toBeInstanceOf(QueueUnconfigured);
      expect(answer.reason).toMatchObject({ code: 'queue_unconfigured', retryable: true });
    }
    const lease = { leaseId: '0-1', token: 'x' };
    expect(await client.open(lease, 'n')).toEqual({ outcome: 'gone' });
    expect(await client.extend(lease)).toEqual({ outcome: 'stale' });
    expect(await client.settle(lease, [], { claimNext: true })).toEqual({ outcome: 'stale' });
    expect(await client.release(lease)).toEqual({ outcome: 'stale' });
  });
});

describe('an error', () => {
  it.each([
    ['error in the script', `return redis.call('NOSUCH')`],
    ['failing script', 'local nothing = nil; return nothing.field'],
    ['script that does not compile', 'return ('],
    ['command on a key of another type', `redis.call('SET', KEYS[1], 1); return redis.call('LPUSH', KEYS[1], 1)`],
  ])('of a %s is a fault of the code: not to be retried, with its cause', async (_, source) => {
    const redis = connectShared();
    const failed = await runScript(redis, `{${Math.random()}}`, script(source), {}).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ScriptFailed);
    expect(failed).toMatchObject({ code: 'script_failed', retryable: false, cause: expect.any(Error) });
    expect(String(failed)).toContain('probe: ');
    redis.disconnect();
  });

  it('of a reply that the face does not understand is one too', async () => {
    const { redis, keys } = await testQueue();
    const source = script(`return {'surprise'}`).source;
    const odd = defineScript({ ...stats, parts: [source.slice(source.indexOf('\n'))] });
    await expect(runScript(redis, keys.prefix, odd, {})).rejects.toBeInstanceOf(ScriptFailed);
  });

  it.each(['LOADING', 'READONLY', 'CLUSTERDOWN', 'MASTERDOWN', 'BUSY', 'OOM', 'MISCONF', 'TRYAGAIN', 'NOREPLICAS'])(
    '%s of the server is retryable',
    async (code) => {
      const { redis, keys } = await testQueue();
      const refusing = script(`return redis.error_reply('${code} as a server in that state says')`);
      // The cluster client retries some of these by itself first.
      const [node] = redis.nodes('master');
      const own = new Redis({ ...node?.options });
      await expect(runScript(own, keys.prefix, refusing, {})).rejects.toMatchObject({
        name: 'QueueUnavailable',
        retryable: true,
      });
      own.disconnect();
    },
  );

  it('of a server that is away is retryable', async () => {
    const { server, client } = await ownRedis();
    await client.configure(testConfig());
    await server.stop();
    await expect(client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).rejects.toBeInstanceOf(QueueUnavailable);
    await expect(client.claim(1)).rejects.toBeInstanceOf(QueueUnavailable);
  });
});

describe('a full Redis', () => {
  it('refuses enqueues whole, and drains', async () => {
    const { redis, client, keys } = await ownRedis();
    await client.configure(testConfig({ capacity: 100 }));
    await put(client, 'acme', 40, { payload: JSON.stringify('x'.repeat(10_000)) });
    await put(client, 'acme', 3, { delayMs: 1 });
    const [visit, unopened] = [await claimOne(client), (await client.claim(1)).visits[0]];
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    const before = await redis.dumpBuffer(keys.clock);
    const keyCount = await redis.dbsize();
    for (const tenant of ['acme', 'new']) {
      const refused = await client.enqueue({ tenant, idempotencyKey: 'k', jobs: newJobs(5) }).catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(QueueUnavailable);
      expect(String(refused)).toContain('OOM');
    }
    expect(await redis.dumpBuffer(keys.clock)).toEqual(before);
    expect(await redis.dbsize()).toBe(keyCount);
    // The server forgets its scripts: what drains must also load.
    await redis.script('FLUSH');
    if (!unopened) throw new Error('the second visit was not claimed');
    expect(await client.release(unopened)).toMatchObject({ outcome: 'released' });
    expect(await client.extend(visit)).toMatchObject({ outcome: 'extended' });
    const failing = { index: 1, result: 'failed', durationMs: 1, retryDelayMs: 0, error: 'no' } as const;
    const next = await client.settle(visit, [failing], { claimNext: true });
    if (next.outcome !== 'continued') throw new Error(next.outcome);
    expect(await client.settle(next.visit, allDone(next.visit), { claimNext: false })).toEqual({ outcome: 'ended' });
    let settled = next.visit.jobs.length;
    for (;;) {
      await client.tick();
      const { visits } = await client.claim(50);
      if (visits.length === 0) break;
      for (const lease of visits) {
        const opened = await client.open(lease, 'n');
        if (opened.outcome !== 'opened') throw new Error(opened.outcome);
        settled += opened.visit.jobs.length;
        expect(await client.settle(opened.visit, allDone(opened.visit), { claimNext: false })).toEqual({
          outcome: 'ended',
        });
      }
    }
    expect(settled).toBe(43);
    expect(await client.stats()).toMatchObject({ ready: 0, delayed: 0, inFlight: 0 });
    await redis.config('SET', 'maxmemory', '0');
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ outcome: 'accepted' });
  });
});

it('runs on a cluster by the slot of its key', async () => {
  const queue = await testQueue();
  const { connection, commands } = watched(queue.redis);
  const reply = await runScript(
    connection,
    queue.keys.prefix,
    enqueue,
    { tenant: 'acme', claimPlan: 'none', onceField: 'n:1', digest: '', enqueueId: '' },
    [],
  );
  expect(reply.outcome).toBe('unknown_plan');
  expect(commands.at(-1)).toMatch(/^eval(sha)?$/);
  expect(queue.redis.isCluster).toBe(true);
});
