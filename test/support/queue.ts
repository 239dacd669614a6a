import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import { afterAll, inject } from 'vitest';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { Visit } from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { NewJob, QueueClient } from '../../functions/lib/queue/queue-client.ts';

/** The settings' defaults as Redis holds them, but for what a test gives. */
export function testConfig(given: Partial<QueueConfig> = {}): QueueConfig {
  return {
    version: 1,
    plans: {
      enterprise: { weight: 8, maxDepth: 500_000, maxConcurrency: 50 },
      growth: { weight: 3, maxDepth: 100_000, maxConcurrency: 50 },
      free: { weight: 1, maxDepth: 5_000, maxConcurrency: 50 },
    },
    defaultPlan: 'free',
    quantum: 4,
    capacity: 40,
    visitConcurrency: 1,
    maxVisitMs: 5_000,
    spreadMs: 1_000,
    leaseMs: 60_000,
    openMs: 20_000,
    unopenedLimit: 1_000,
    maxConcurrency: 50,
    deadLetters: 1_000,
    idempotencyMs: 86_400_000,
    purgeMs: 120_000,
    ...given,
  };
}

/** A connection to the Redis that the run shares. */
export function connectShared(): Cluster {
  const { hostname, port } = new URL(inject('redisUrl'));
  return new Cluster([{ host: hostname, port: Number(port) }]);
}

export interface TestQueue {
  readonly name: string;
  readonly keys: ReturnType<typeof queueKeys>;
  readonly redis: Cluster;
  readonly client: QueueClient;
}

/** A queue of its own on the shared Redis, configured. */
export async function testQueue(given: Partial<QueueConfig> = {}): Promise<TestQueue> {
  const name = `t${randomBytes(6).toString('hex')}`;
  const redis = connectShared();
  const client = createQueueClient({ redis, connectBlocking: connectShared, queue: name, shard: 0 });
  afterAll(() => client.close());
  await client.configure(testConfig(given));
  return { name, keys: queueKeys(name, 0), redis, client };
}

/** A job of type `echo` unless said otherwise. */
export function newJob(given: Partial<NewJob> = {}): NewJob {
  return { type: 'echo', payload: '{}', delayMs: 0, cost: 1, maxAttempts: 5, timeoutSeconds: 0, ...given };
}

/** So many jobs whose payloads are their numbers. */
export function newJobs(count: number, given: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, (_, i) => newJob({ payload: String(i), ...given }));
}

/** Claims one visit and opens it; fails the test when there is none. */
export async function claimOne(client: QueueClient, nonce = 'nonce'): Promise<Visit> {
  const claimed = await client.claim(1);
  const [lease] = claimed.visits;
  if (lease === undefined) throw new Error(`no visit to claim: ${claimed.outcome}`);
  const opened = await client.open(lease, nonce);
  if (opened.outcome !== 'opened') throw new Error(`the lease did not open: ${opened.outcome}`);
  return opened.visit;
}
