import type { Cluster, Redis } from 'ioredis';
import { Redis as Admin } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { connectRedis } from '../../functions/lib/queue/connect.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { checkInvariants } from '../support/invariants.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';
import { allDone, openLease } from '../support/visits.ts';

/** A state in which a server takes no writes: what brings it about, and what ends it. */
interface Refusal {
  readonly error: string;
  readonly cluster: boolean;
  /** Scripts that drain the queue run all the same. */
  readonly drains?: boolean;
  readonly begin: (admin: Admin) => Promise<unknown>;
  readonly end: (admin: Admin) => Promise<unknown>;
}

/** A port on which nothing listens: a primary that cannot be reached. */
const NOWHERE = ['127.0.0.1', '1'] as const;

const refusals: readonly Refusal[] = [
  {
    error: 'NOREPLICAS',
    cluster: true,
    begin: (admin) => admin.config('SET', 'min-replicas-to-write', '1'),
    end: (admin) => admin.config('SET', 'min-replicas-to-write', '0'),
  },
  {
    // What a durable cache answers while its log lags.
    error: 'CLUSTERDOWN',
    cluster: true,
    begin: async (admin) => {
      await admin.config('SET', 'cluster-allow-reads-when-down', 'yes');
      await admin.call('CLUSTER', 'DELSLOTS', '0');
      await expect.poll(() => admin.call('CLUSTER', 'INFO')).toContain('cluster_state:fail');
    },
    end: async (admin) => {
      await admin.call('CLUSTER', 'ADDSLOTS', '0');
      await expect.poll(() => admin.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
    },
  },
  {
    error: 'OOM',
    cluster: true,
    drains: true,
    begin: (admin) => admin.config('SET', 'maxmemory', '1mb'),
    end: (admin) => admin.config('SET', 'maxmemory', '0'),
  },
  {
    error: 'READONLY',
    cluster: false,
    begin: (admin) => admin.replicaof(...NOWHERE),
    end: (admin) => admin.replicaof('NO', 'ONE'),
  },
];

describe.each(refusals)('while Redis answers $error', ({ error, cluster, drains = false, begin, end }) => {
  let server: RunningRedis;
  let admin: Admin;
  let redis: Redis | Cluster;
  let client: QueueClient;

  beforeAll(async () => {
    server = await startRedis({ cluster });
    admin = new Admin(server.url);
    redis = connectRedis({ url: server.url, cluster, auth: 'none', name: '', secret: '' });
    client = createQueueClient({ redis, queue: 'refused', shard: 0 });
    await client.configure(testConfig());
  });
  afterAll(async () => {
    await client.close();
    admin.disconnect();
    await server.stop();
  });

  const unavailable = expect.objectContaining({
    name: 'QueueUnavailable',
    retryable: true,
    message: expect.stringContaining(error),
  });

  it('an enqueue fails as one to be tried again, and is not done late or by half', async () => {
    const request = { tenant: 'acme', idempotencyKey: 'one', jobs: newJobs(40) };
    await begin(admin);
    const startedMs = performance.now();
    await expect(client.enqueue(request)).rejects.toEqual(unavailable);
    expect(performance.now() - startedMs).toBeLessThan(1_800);
    await end(admin);
    // Whatever of it was kept for later comes before this one.
    await redis.set('{rota:refused:0}:fence', '1');
    expect(await client.stats()).toMatchObject({ ready: 0, enqueued: 0 });
    expect(await client.enqueue(request)).toMatchObject({ outcome: 'accepted', depth: 40 });
  });

  it('a visit is settled once: at once where that frees memory, else when writes are taken again', async () => {
    const [lease] = (await client.claim(1)).visits;
    if (!lease) throw new Error('there is a visit');
    const visit = await openLease(client, lease);
    const settle = () =>
      client.settle(visit, allDone(visit), { claimNext: false }).then(
        ({ outcome }) => outcome,
        (refused: unknown) => refused,
      );
    await begin(admin);
    expect(await settle()).toEqual(drains ? 'ended' : unavailable);
    await end(admin);
    expect(await client.stats()).toMatchObject(drains ? { inFlight: 0, done: 1 } : { inFlight: 1, done: 0 });
    expect(await settle()).toBe(drains ? 'stale' : 'ended');
    expect(await client.stats()).toMatchObject({ inFlight: 0, done: 1 });
    expect(await checkInvariants(redis, 'refused')).toEqual([]);
  });
});
