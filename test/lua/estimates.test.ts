import { describe, expect, it } from 'vitest';
import { expectedRate } from '../../functions/lib/domain/estimates.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';

/** Between two visits: the load is steady by the clock of Redis, whatever the machine does besides. */
const PACE_MS = 25;
/** Rates are known from a second on. */
const WARM_MS = 1_500;
const RUN_MS = 6_000;
const LIMIT = 3_000;

interface Forecast {
  readonly atMs: number;
  /** The batch fits once so many jobs of the tenant have been served, counted from the beginning. */
  readonly servedBy: number;
  readonly seconds: number;
}

/** Serves a visit every few milliseconds until it is told to stop; notes how much a tenant was served by when. */
async function serve(
  client: QueueClient,
  tenant: string,
  run: { over: boolean },
): Promise<[ms: number, served: number][]> {
  const history: [number, number][] = [];
  let nextMs = 0;
  while (!run.over) {
    const { nowMs, served } = await client.inspect(tenant);
    history.push([nowMs, served]);
    if (nowMs < nextMs) continue;
    nextMs = Math.max(nowMs, nextMs) + PACE_MS;
    const { visits } = await client.claim(1);
    const [lease] = visits;
    const opened = lease && (await client.open(lease, 'nonce'));
    if (opened?.outcome !== 'opened') continue;
    const results = opened.visit.jobs.map(({ index }) => ({ index, result: 'done' as const, durationMs: 5 }));
    await client.settle(opened.visit, results, { claimNext: false });
  }
  return history;
}

/** Keeps the tenants full, and asks again and again when batches of various sizes would fit. */
async function ask(
  client: QueueClient,
  tenant: string,
  others: readonly string[],
  run: { over: boolean },
): Promise<Forecast[]> {
  const forecasts: Forecast[] = [];
  const startMs = (await client.stats()).nowMs;
  for (let turn = 0; !run.over; turn++) {
    for (const name of [tenant, ...others]) {
      const { ready } = await client.inspect(name);
      if (ready < LIMIT - 100) await client.enqueue({ tenant: name, jobs: newJobs(LIMIT - 100 - ready) });
    }
    const { nowMs, served } = await client.inspect(tenant);
    const answer = await client.enqueue({ tenant, jobs: newJobs(120 + ((turn * 97) % 180)) });
    if (nowMs > startMs + RUN_MS) run.over = true;
    if (answer.outcome !== 'full' || nowMs < startMs + WARM_MS) continue;
    const excess = answer.used + answer.needed - answer.limit;
    const rate = expectedRate(answer.rate);
    if (rate !== null) forecasts.push({ atMs: nowMs, servedBy: served + excess, seconds: excess / rate });
  }
  return forecasts;
}

/** How far off each forecast was, as a part of what it took; those whose time did not come are left out. */
function errorsOf(forecasts: readonly Forecast[], history: readonly [number, number][]): number[] {
  return forecasts.flatMap(({ atMs, servedBy, seconds }) => {
    const reached = history.find(([, served]) => served >= servedBy);
    const took = reached ? (reached[0] - atMs) / 1000 : 0;
    // Shorter than a few visits, the order of the visits decides.
    return took < 0.2 ? [] : [Math.abs(seconds - took) / took];
  });
}

describe('when a refused batch will fit', () => {
  it.each([
    { how: 'alone', others: [] },
    { how: 'beside two others of other weights', others: ['globex', 'initech'] },
  ])('is told within 25 % in nine of ten cases: $how', { timeout: 60_000 }, async ({ others }) => {
    const { client } = await testQueue();
    await client.subscribe('acme', { weight: 1, maxDepth: LIMIT });
    for (const [index, name] of others.entries()) await client.subscribe(name, { weight: index + 2, maxDepth: LIMIT });
    const run = { over: false };
    const [history, forecasts] = await Promise.all([serve(client, 'acme', run), ask(client, 'acme', others, run)]);
    const errors = errorsOf(forecasts, history).toSorted((a, b) => a - b);
    expect(errors.length).toBeGreaterThan(20);
    expect(errors[Math.floor(errors.length * 0.9)]).toBeLessThan(0.25);
  });
});
