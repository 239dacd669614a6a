import { createHash, randomBytes } from 'node:crypto';
import type { QueueConfig } from '../config/queue-config.ts';
import { assertNever, type EnqueueOutcome, type JobResult, type Lease, type Visit } from '../domain/outcomes.ts';
import { QueueUnavailable, QueueUnconfigured } from './errors.ts';
import { type QueueKeys, queueKeys } from './keys.ts';
import type { EnqueueRequest, QueueClient } from './queue-client.ts';
import { batchIds, packNewJob, readJob, withoutTrace } from './record.ts';
import { type RedisConnection, runScript, type Script, type ScriptArgument } from './script.ts';
import { claim } from './scripts/claim.ts';
import { configure } from './scripts/configure.ts';
import { enqueue } from './scripts/enqueue.ts';
import { extend } from './scripts/extend.ts';
import { inspect } from './scripts/inspect.ts';
import { list } from './scripts/list.ts';
import { mark } from './scripts/mark.ts';
import { type OpenedReply, open } from './scripts/open.ts';
import { pause } from './scripts/pause.ts';
import { purge } from './scripts/purge.ts';
import { release } from './scripts/release.ts';
import { packResult, settle } from './scripts/settle.ts';
import { stats } from './scripts/stats.ts';
import { subscribe } from './scripts/subscribe.ts';
import { tick } from './scripts/tick.ts';

export interface QueueClientOptions {
  readonly redis: RedisConnection;
  /** Makes the second connection, which `waitForWake` blocks on; only a dispatcher needs it. */
  readonly connectBlocking?: () => RedisConnection;
  readonly queue: string;
  readonly shard: number;
}

/** The queue over one Redis: a method a script (see QueueClient). */
export function createQueueClient({ redis, connectBlocking, queue, shard }: QueueClientOptions): QueueClient {
  const keys = queueKeys(queue, shard);
  let config: QueueConfig | undefined;
  let waiting: RedisConnection | undefined;
  /** Of the mark of life. An environment runs one dispatcher at a time. */
  const owner = newSeed();

  const writeConfig = (value: QueueConfig) =>
    runScript(redis, keys.prefix, configure, { version: value.version, settings: JSON.stringify(value) });

  /** Runs a script; an emptied Redis is configured again first. */
  async function run<Field extends string, Outcome>(
    script: Script<Field, Outcome>,
    args: Readonly<Record<Field, ScriptArgument>>,
    rest: readonly ScriptArgument[] = [],
  ): Promise<Outcome> {
    try {
      return await runScript(redis, keys.prefix, script, args, rest);
    } catch (error) {
      if (!(error instanceof QueueUnconfigured) || config === undefined) throw error;
      await writeConfig(config);
      return runScript(redis, keys.prefix, script, args, rest);
    }
  }

  /** Once more after a lost reply, for scripts that answer a repetition like the first time. */
  async function runTwice<Field extends string, Outcome>(
    script: Script<Field, Outcome>,
    args: Readonly<Record<Field, ScriptArgument>>,
    rest: readonly ScriptArgument[] = [],
  ): Promise<Outcome> {
    return run(script, args, rest).catch((error: unknown) => {
      if (!(error instanceof QueueUnavailable)) throw error;
      return run(script, args, rest);
    });
  }

  const visitOf = (leaseId: string, { records, ...opened }: OpenedReply): Visit => ({
    ...opened,
    leaseId,
    jobs: records.map(({ index, record }) => readJob(shard, index, record)),
  });

  async function enqueueJobs(request: EnqueueRequest): Promise<EnqueueOutcome> {
    const packed = request.jobs.map(packNewJob);
    const enqueueId = newEnqueueId();
    const digest = createHash('sha256');
    for (const [place, job] of request.jobs.entries()) {
      const same = withoutTrace(packed[place] ?? Buffer.alloc(0), job);
      digest.update(`${same.length}:`).update(same);
    }
    const reply = await runTwice(
      enqueue,
      {
        tenant: request.tenant,
        claimPlan: request.claimPlan ?? '',
        onceField:
          request.idempotencyKey === undefined ? `n:${enqueueId.toString('hex')}` : `k:${request.idempotencyKey}`,
        digest: digest.digest(),
        enqueueId,
      },
      packed,
    );
    switch (reply.outcome) {
      case 'accepted':
        return {
          outcome: 'accepted',
          ids: batchIds(shard, enqueueId, reply.jobs),
          depth: reply.depth,
          dispatch: reply.dispatch,
        };
      case 'repeated': {
        const ids = batchIds(shard, reply.enqueueId, reply.jobs);
        // The same enqueue id: our own second try, to the caller the first. The lost reply may have asked for a dispatcher,
        // and one too many does no harm.
        return reply.enqueueId.equals(enqueueId)
          ? { outcome: 'accepted', ids, depth: reply.depth, dispatch: true }
          : { outcome: 'repeated', ids, depth: reply.depth };
      }
      case 'full':
        return { ...reply, room: Math.max(0, reply.limit - reply.depth) };
      case 'conflict':
      case 'unknown_plan':
        return reply;
      default:
        return assertNever(reply);
    }
  }

  async function settleJobs(lease: Lease, results: readonly JobResult[], claimNext: boolean) {
    const seed = claimNext ? newSeed() : '';
    const reply = await runTwice(settle, { ...lease, seed }, results.map(packResult));
    return reply.outcome === 'continued'
      ? { outcome: reply.outcome, visit: visitOf(lease.leaseId, reply.opened) }
      : reply;
  }

  return {
    run,
    async configure(value) {
      config = value;
      return writeConfig(value);
    },
    enqueue: enqueueJobs,
    claim: (max) => run(claim, { shard, seed: newSeed(), maxVisits: max }),
    async open(lease, nonce) {
      const reply = await runTwice(open, { ...lease, nonce });
      return reply.outcome === 'opened'
        ? { outcome: reply.outcome, visit: visitOf(lease.leaseId, reply.opened) }
        : reply;
    },
    extend: (lease) => runTwice(extend, lease),
    settle: (lease, results, { claimNext }) => settleJobs(lease, results, claimNext),
    release: (lease) => run(release, lease),
    tick: () => run(tick, {}),
    stats: () => run(stats, {}),
    inspect: (tenant) => run(inspect, { tenant }),
    async list(sort, limit, cursor) {
      const offset = Number(cursor ?? 0);
      // One more than asked for tells whether there is a further page.
      const tenants = await run(list, { sort, offset, limit: limit + 1 });
      return { tenants: tenants.slice(0, limit), next: tenants.length > limit ? String(offset + limit) : null };
    },
    tenantNames: (cursor) => scanTenants({ redis, keys }, cursor),
    async lastReading() {
      const [number, reading] = await redis.hmget(keys.monitor, 'number', 'reading').catch((error: unknown) => {
        throw new QueueUnavailable(`last reading: ${String(error)}`, { cause: error });
      });
      return { number: Number(number ?? 0), reading: reading ?? null };
    },
    subscribe: (tenant, record) =>
      runTwice(subscribe, {
        tenant,
        plan: record.plan ?? '',
        weight: record.weight ?? '',
        maxDepth: record.maxDepth ?? '',
        maxConcurrency: record.maxConcurrency ?? '',
      }),
    async pause(tenant) {
      await runTwice(pause, { tenant, paused: 1 });
    },
    async resume(tenant) {
      const reply = await runTwice(pause, { tenant, paused: 0 });
      return { dispatch: reply.outcome === 'resumed' && reply.dispatch };
    },
    purge: (tenant, scope) => run(purge, { tenant, scope }),
    async waitForWake(timeoutMs) {
      if (connectBlocking === undefined) throw new TypeError('waitForWake needs the option connectBlocking');
      waiting ??= connectBlocking();
      const woken = await waiting.blpop(keys.wake, timeoutMs / 1000).catch((error: unknown) => {
        throw new QueueUnavailable(`wake: ${String(error)}`, { cause: error });
      });
      return woken !== null;
    },
    async markDispatcher(wish) {
      await run(mark, { owner, wish });
    },
    async unmarkDispatcher() {
      await run(mark, { owner, wish: 'leave' });
    },
    async close() {
      waiting?.disconnect();
      redis.disconnect();
    },
  };
}

/** Keys that a step of a scan looks at: a third of a millisecond of the server's time. */
const SCANNED_KEYS = 1_000;

/**
 * A step through the names of all tenants. No script, since a script must not scan; and without an index of all tenants,
 * which every enqueue would have to keep for this alone. The queue's keys share a slot, in a cluster of one shard.
 */
async function scanTenants({ redis, keys }: Pick<QueueClientOptions, 'redis'> & { keys: QueueKeys }, cursor: string) {
  const beginning = keys.tenant('');
  const [next, found] = await redis
    .scan(cursor, 'MATCH', `${beginning}*`, 'COUNT', SCANNED_KEYS)
    .catch((error: unknown) => {
      throw new QueueUnavailable(`scan: ${String(error)}`, { cause: error });
    });
  return { names: found.map((key) => key.slice(beginning.length)), cursor: next };
}

/** 48 bits of time, so that ids sort roughly by age, and 32 random ones. */
function newEnqueueId(): Buffer {
  const id = randomBytes(10);
  id.writeUIntBE(Date.now(), 0, 6);
  return id;
}

function newSeed(): string {
  return randomBytes(16).toString('hex');
}
