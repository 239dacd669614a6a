/**
 * What a visit and a job cost Redis, beside a script that does nothing on the same server in the same run. Redis counts the
 * time of all scripts together, so each phase resets the count and reads it after its work. Reports, judges nothing.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { startRedis } from '../../infra/local/redis-server.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';

const server = await startRedis({ cluster: false });
const redis = new Redis(server.url);

async function phase(name: string, units: number, unit: string, work: () => Promise<void>): Promise<void> {
  await redis.config('RESETSTAT');
  const started = process.hrtime.bigint();
  await work();
  const wallMs = Number(process.hrtime.bigint() - started) / 1e6;
  const usec = Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  console.log(
    `${name.padEnd(44)} ${(usec / units).toFixed(1).padStart(7)} µs server/${unit}   ${(units / (wallMs / 1000)).toFixed(0).padStart(8)} ${unit}s/s`,
  );
}

/** So many calls under way at once, as on a queue at work: one at a time, Redis sleeps between calls and every cache is cold. */
const AT_ONCE = 32;

async function together<Item>(items: readonly Item[], call: (item: Item) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      if (item !== undefined) await call(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function wholeLife(tenants: number, jobsPerVisit: number, jobsPerTenant: number): Promise<void> {
  const client = createQueueClient({ redis, queue: `b${randomBytes(4).toString('hex')}`, shard: 0 });
  const config = testConfig({
    quantum: jobsPerVisit,
    capacity: 1000,
    plans: { free: { weight: 1, maxDepth: 1e9, maxConcurrency: 1e6 } },
  });
  await client.configure(config);
  const names = Array.from({ length: tenants }, (_, i) => `tenant-${i}`);
  const payload = JSON.stringify('x'.repeat(198));
  const all = tenants * jobsPerTenant;
  console.log(`\n${tenants} tenants, ${jobsPerTenant} jobs each, ${jobsPerVisit} jobs a visit`);
  await phase('enqueue', all, 'job', async () => {
    await together(names, (tenant) => client.enqueue({ tenant, jobs: newJobs(jobsPerTenant, { payload }) }));
  });
  // Durations are learned first, so that visits are full: one job of each tenant.
  for (let left = tenants; left > 0; ) {
    const { visits } = await client.claim(50);
    left -= visits.length;
    await together(visits, async (lease) => {
      await client.open(lease, 'n');
      await client.settle(lease, [{ index: 1, result: 'done', durationMs: 1 }], { claimNext: false });
    });
  }
  const rest = all - tenants;
  const opened: { leaseId: string; token: string; jobs: number }[] = [];
  let claimed = 0;
  const visits = Math.min(900, Math.floor(rest / jobsPerVisit));
  await phase('claim, 20 visits a call', visits, 'visit', async () => {
    while (opened.length < visits) {
      const { visits: batch } = await client.claim(20);
      if (batch.length === 0) throw new Error('nothing left to claim');
      opened.push(...batch);
    }
  });
  for (const lease of opened) claimed += lease.jobs;
  await phase('open', opened.length, 'visit', async () => {
    await together(opened, (lease) => client.open(lease, 'n'));
  });
  await phase('settle all at once', opened.length, 'visit', async () => {
    await together(opened, (lease) => {
      const results = Array.from({ length: lease.jobs }, (_, i) => ({
        index: i + 1,
        result: 'done' as const,
        durationMs: 1,
      }));
      return client.settle(lease, results, { claimNext: false });
    });
  });
  console.log(`  ${(claimed / opened.length).toFixed(1)} jobs a visit`);
}

const idle = await redis.script('LOAD', '#!lua\nreturn 1');
await phase('a script that does nothing', 5000, 'call', async () => {
  await together(Array.from({ length: 5000 }), () => redis.evalsha(String(idle), 0));
});
await wholeLife(1000, 14, 30);
await wholeLife(1000, 4, 10);
await wholeLife(100_000, 4, 2);
redis.disconnect();
await server.stop();
