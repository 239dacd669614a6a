import { randomBytes } from 'node:crypto';
import { Cluster } from 'ioredis';
import { afterAll, afterEach, inject } from 'vitest';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { Visit } from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { checkInvariants } from './invariants.ts';
import { testConfig } from './queue-fixture.ts';

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

const made: TestQueue[] = [];
let looking: Cluster | undefined;

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
  await Promise.all(made.map(({ client }) => client.close()));
});

/** A queue of its own on the shared Redis, configured. */
export async function testQueue(given: Partial<QueueConfig> = {}): Promise<TestQueue> {
  const name = `t${randomBytes(6).toString('hex')}`;
  const redis = connectShared();
  const client = createQueueClient({ redis, connectBlocking: connectShared, queue: name, shard: 0 });
  await client.configure(testConfig(given));
  const queue = { name, keys: queueKeys(name, 0), redis, client };
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
