import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import type { Visit } from '../../functions/lib/domain/outcomes.ts';
import { newJobs } from './queue-fixture.ts';

export interface RateRun {
  readonly tenants: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly workers: number;
}

export interface RateResult {
  /** Jobs a second of each limited tenant, by the clock of Redis. */
  readonly rates: number[];
  readonly floodPerSecond: number;
}

const FLOOD = 'flood';
const nameOf = (index: number) => `limited-${index}`;

async function put(client: QueueClient, tenant: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 500) {
    const answer = await client.enqueue({ tenant, jobs: newJobs(Math.min(500, left)) });
    if (answer.outcome !== 'accepted') throw new Error(`${tenant}: ${answer.outcome}`);
  }
}

/** Finishes the jobs of a visit and of those that follow it on the same lease. */
async function finish(client: QueueClient, first: Visit, count: (visit: Visit) => void): Promise<void> {
  let visit = first;
  for (;;) {
    count(visit);
    const results = visit.jobs.map(({ index }) => ({ index, result: 'done' as const, durationMs: 1 }));
    const settled = await client.settle(visit, results, { claimNext: false });
    if (settled.outcome !== 'continued') return;
    ({ visit } = settled);
  }
}

/**
 * Lets tenants with a rate and one that floods work side by side, and counts from the time on at which the bursts are used up.
 * By the clock of Redis, which the rates go by, so that a slow machine measures the same.
 */
export async function runRates(
  client: QueueClient,
  { tenants, perSecond, seconds, workers }: RateRun,
): Promise<RateResult> {
  const most = perSecond * (seconds + 4);
  for (let index = 0; index < tenants; index++) {
    await client.subscribe(nameOf(index), { plan: 'free', maxDepth: 1_000_000, maxJobsPerSecond: perSecond });
    await put(client, nameOf(index), most);
  }
  await client.subscribe(FLOOD, { plan: 'free', maxDepth: 10_000_000 });
  await put(client, FLOOD, 5_000);

  const { nowMs } = await client.stats();
  const [fromMs, toMs] = [nowMs + 1_500, nowMs + 1_500 + seconds * 1_000];
  const served = new Map<string, number>();
  const run = { over: false };
  const work = async () => {
    while (!run.over) {
      await client.tick();
      const { visits, nowMs: claimedMs } = await client.claim(8);
      if (claimedMs >= toMs) run.over = true;
      for (const lease of visits) {
        const opened = await client.open(lease, 'nonce');
        if (opened.outcome !== 'opened') continue;
        await finish(client, opened.visit, ({ tenant, jobs }) => {
          if (claimedMs >= fromMs && claimedMs < toMs) served.set(tenant, (served.get(tenant) ?? 0) + jobs.length);
        });
      }
    }
  };
  const flood = async () => {
    while (!run.over) {
      const { ready } = await client.inspect(FLOOD);
      if (ready < 2_000) await put(client, FLOOD, 2_000);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all([...Array.from({ length: workers }, work), flood()]);
  return {
    rates: Array.from({ length: tenants }, (_, index) => (served.get(nameOf(index)) ?? 0) / seconds),
    floodPerSecond: (served.get(FLOOD) ?? 0) / seconds,
  };
}
