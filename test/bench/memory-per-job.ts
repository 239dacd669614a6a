/**
 * What a waiting job takes of Redis' memory: the growth of `used_memory` over 100,000 jobs of one payload size, spread over
 * 10 and over 1,000 tenants. On the server that the tests run on; payloads do not compress, as little does in Redis.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { startRedis } from '../../infra/local/redis-server.ts';
import { newJob, testConfig } from '../support/queue-fixture.ts';

const JOBS = 100_000;
const BATCH = 100;

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

async function bytesPerJob(payloadBytes: number, tenants: number): Promise<number> {
  const server = await startRedis({ cluster: false });
  const redis = new Redis(server.url);
  const client = createQueueClient({ redis, queue: 'memory', shard: 0 });
  const plans = { free: { weight: 1, maxDepth: JOBS, maxConcurrency: 50 } };
  await client.configure(testConfig({ plans }));
  // The scripts themselves, and the tables that grow with the first tenant, are there before the first reading.
  await client.enqueue({ tenant: 'first', jobs: [newJob()] });
  const before = await usedMemory(redis);
  const payload = () =>
    JSON.stringify(
      randomBytes(payloadBytes)
        .toString('base64')
        .slice(0, payloadBytes - 2),
    );
  for (let batch = 0; batch < JOBS / BATCH; batch++) {
    const jobs = Array.from({ length: BATCH }, () => newJob({ payload: payload() }));
    const answer = await client.enqueue({ tenant: `tenant-${batch % tenants}`, jobs });
    if (answer.outcome !== 'accepted') throw new Error(`enqueue: ${answer.outcome}`);
    // An enqueue without a key is remembered for a minute, which is no part of a job that waits.
  }
  const after = await usedMemory(redis);
  await client.close();
  await server.stop();
  return (after - before) / JOBS;
}

console.log(`${JOBS} jobs waiting; bytes a job`);
for (const tenants of [10, 1_000]) {
  for (const payloadBytes of [100, 1_024, 10_240]) {
    const bytes = await bytesPerJob(payloadBytes, tenants);
    console.log(
      `${String(payloadBytes).padStart(6)} B payload  ${String(tenants).padStart(5)} tenants  ${bytes.toFixed(0).padStart(6)} B  (${(bytes - payloadBytes).toFixed(0)} beside the payload)`,
    );
  }
}
