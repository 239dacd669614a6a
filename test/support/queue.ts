import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import { afterAll, afterEach, inject } from 'vitest';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { Visit } from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { accessString } from '../../infra/constructs/access-string.ts';
import { clientOptions } from '../../infra/local/redis-server.ts';
import { checkInvariants } from './invariants.ts';
import { testConfig } from './queue-fixture.ts';

let looking: Cluster | undefined;

const { host, port, ...asAdmin } = clientOptions({ url: inject('redisUrl'), caFile: inject('redisCaFile') });

/** A connection to the Redis that the run shares, as a user who may do everything. */
export function connectShared(): Cluster {
  return new Cluster([{ host, port }], { redisOptions: asAdmin });
}

/** Connections as the user that the stack would make for a queue of that name, with the rights that it would give. */
async function userOf(queue: string): Promise<() => Cluster> {
  looking ??= connectShared();
  const username = `rota-${queue}`;
  await looking.call('ACL', 'SETUSER', username, 'reset', 'nopass', ...accessString(queue).split(' '));
  return () => new Cluster([{ host, port }], { redisOptions: { ...asAdmin, username, password: 'any' } });
}

export interface TestQueue {
  readonly name: string;
  readonly keys: ReturnType<typeof queueKeys>;
  /** As a user who may do everything. */
  readonly redis: Cluster;
  /** A further connection as the user of the queue, as `client` has one. */
  readonly connect: () => Cluster;
  readonly client: QueueClient;
}

const made: TestQueue[] = [];

// Whatever a test did to a queue, what is kept of it twice agrees in the end. On a connection that no test closes.
afterEach(async () => {
  if (made.length > 0) looking ??= connectShared();
  for (const { name } of made) {
    const wrong = looking ? await checkInvariants(looking, name) : [];
    if (wrong.length > 0) throw new Error(`queue ${name}: ${wrong.join('; ')}`);
  }
});
afterAll(async () => {
  looking?.disconnect();
  for (const { redis } of made) redis.disconnect();
  await Promise.all(made.map(({ client }) => client.close()));
});

/** A queue of its own on the shared Redis, configured. */
export async function testQueue(given: Partial<QueueConfig> = {}): Promise<TestQueue> {
  const name = `t${randomBytes(6).toString('hex')}`;
  const redis = connectShared();
  const connect = await userOf(name);
  const client = createQueueClient({ redis: connect(), connectBlocking: connect, queue: name, shard: 0 });
  await client.configure(testConfig(given));
  const queue = { name, keys: queueKeys(name, 0), redis, connect, client };
  made.push(queue);
  return queue;
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
