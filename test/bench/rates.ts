/**
 * Tenants with a rate of 10 jobs a second beside one that floods, for a minute: how well the rates hold, and what the flood gets.
 * `node --import ./infra/bundle/lua-as-text.ts test/bench/rates.ts [tenants] [seconds]`
 */
import { Redis } from 'ioredis';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { startRedis } from '../../infra/local/redis-server.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { runRates } from '../support/rates.ts';

const PER_SECOND = 10;
const [tenants = 200, seconds = 60] = process.argv.slice(2).map(Number);

const server = await startRedis({ cluster: false });
const redis = new Redis(server.url);
const client = createQueueClient({ redis, queue: 'rates', shard: 0 });
await client.configure(testConfig());
const { rates, floodPerSecond } = await runRates(client, { tenants, perSecond: PER_SECOND, seconds, workers: 8 });
const off = rates.map((rate) => Math.abs(rate / PER_SECOND - 1)).toSorted((a, b) => b - a);
console.log(
  `${tenants} tenants at ${PER_SECOND} jobs/s over ${seconds} s, beside a flood served at ${floodPerSecond.toFixed(0)} jobs/s`,
);
console.log(
  `worst ${((off[0] ?? 0) * 100).toFixed(2)} % off, median ${((off[Math.floor(off.length / 2)] ?? 0) * 100).toFixed(2)} %`,
);
redis.disconnect();
await server.stop();
