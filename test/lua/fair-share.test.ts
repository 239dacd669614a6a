import { describe, expect, test } from 'vitest';
import type { JobResult, Visit } from '../../functions/lib/domain/outcomes.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { checkInvariants } from '../support/invariants.ts';
import { testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';

const CLAIMED = 6_000;
/** Of itself: how far a plan's share of the claimed jobs may be from its weight's. */
const TOLERANCE = 0.02;

/** Backlogs that outlast the first 6,000 jobs, and how long a job takes: the small plan's are slow, so its visits short. */
const PLANS = [
  { plan: 'enterprise', weight: 8, jobs: 5_000, shortestMs: 30, longestMs: 60 },
  { plan: 'growth', weight: 3, jobs: 2_500, shortestMs: 20, longestMs: 400 },
  { plan: 'free', weight: 1, jobs: 1_500, shortestMs: 900, longestMs: 2_500 },
];
const WEIGHTS = 12;

interface Running {
  readonly visit: Visit;
  /** On a clock of the test's own: workers end in this order without anybody waiting. */
  readonly endsAtMs: number;
}

describe('equal backlogs of the three plans', () => {
  test.each([1, 5, 40])('are claimed 8:3:1 with %i visits at once and two dispatchers', async (slots) => {
    const { client, redis, name } = await testQueue({ capacity: slots });
    for (const { plan, jobs } of PLANS) {
      for (let sent = 0; sent < jobs; sent += 500) {
        expect(await client.enqueue({ tenant: plan, claimPlan: plan, jobs: newJobs(500) })).toMatchObject({
          outcome: 'accepted',
        });
      }
    }
    const claimed = await serve(client, slots);
    const total = sum(claimed);
    for (const { plan, weight } of PLANS) {
      const share = (claimed.get(plan) ?? 0) / total;
      const entitled = weight / WEIGHTS;
      expect(Math.abs(share / entitled - 1), `${plan} got ${share}, entitled to ${entitled}`).toBeLessThan(TOLERANCE);
      expect((await client.inspect(plan)).ready, `backlog of ${plan}`).toBeGreaterThan(0);
      expect((await client.inspect(plan)).served).toBe(claimed.get(plan));
    }
    expect(await checkInvariants(redis, name)).toEqual([]);
  });
});

/** Keeps all slots busy until 6,000 jobs were claimed, less those given back; the jobs claimed by tenant. */
async function serve(client: QueueClient, slots: number): Promise<Map<string, number>> {
  const claimed = new Map<string, number>();
  const random = sequence(slots);
  const running: Running[] = [];
  let nowMs = 0;
  const count = (tenant: string, jobs: number) => claimed.set(tenant, (claimed.get(tenant) ?? 0) + jobs);
  const begin = (visit: Visit) => {
    count(visit.tenant, visit.jobs.length);
    const lastsMs = visit.jobs.reduce((lasted) => lasted + durationOf(visit.tenant, random()), 0);
    running.push({ visit, endsAtMs: nowMs + lastsMs });
  };
  while (sum(claimed) < CLAIMED) {
    const calls = await Promise.all([client.claim(Math.ceil(slots / 2)), client.claim(slots)]);
    const opened = await Promise.all(calls.flatMap(({ visits }) => visits).map((lease) => client.open(lease, 'nonce')));
    for (const answer of opened) if (answer.outcome === 'opened') begin(answer.visit);
    expect(running).toHaveLength(slots);
    running.sort((a, b) => a.endsAtMs - b.endsAtMs);
    const next = running.shift();
    if (!next) break;
    nowMs = next.endsAtMs;
    const { visit } = next;
    // One visit in ten yields after its first job.
    const started = random() < 0.1 ? 1 : visit.jobs.length;
    const results = visit.jobs.map(
      ({ index }, place): JobResult =>
        place < started
          ? { index, result: 'done', durationMs: durationOf(visit.tenant, random()) }
          : { index, result: 'given_back' },
    );
    count(visit.tenant, started - visit.jobs.length);
    const answer = await client.settle(visit, results, { claimNext: random() < 0.5 });
    expect(['continued', 'ended']).toContain(answer.outcome);
    if (answer.outcome === 'continued') begin(answer.visit);
  }
  return claimed;
}

function sum(claimed: Map<string, number>): number {
  return [...claimed.values()].reduce((total, jobs) => total + jobs, 0);
}

function durationOf(tenant: string, part: number): number {
  const { shortestMs = 0, longestMs = 0 } = PLANS.find(({ plan }) => plan === tenant) ?? {};
  return Math.round(shortestMs + part * (longestMs - shortestMs));
}

/** The same numbers from 0 to 1 in every run (D. H. Lehmer's generator). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
