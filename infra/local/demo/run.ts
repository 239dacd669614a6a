import { setTimeout as pause } from 'node:timers/promises';
import { Shares, WINDOW_MS } from './shares.ts';
import type { TableRow } from './table.ts';
import { DemoApi, demoTenants, SLEEP_MS } from './tenants.ts';

const SAMPLE_MS = 250;

interface SmallResult {
  readonly tenant: string;
  readonly jobs: number;
  readonly waitSeconds: number;
  /** What it would have waited behind everything that was there before it, at the rate the queue then had. */
  readonly fifoWaitSeconds: number;
}

export interface DemoResult {
  readonly jobs: number;
  readonly sleepMs: number;
  /** Jobs of the large tenant that still waited when the last small one was done. */
  readonly stillWaiting: number;
  readonly ratePerSecond: number;
  readonly small: SmallResult[];
}

export interface DemoView {
  /** Called with each new reading. */
  readonly show: (rows: TableRow[], status: string) => void;
  /** Ends the demo early. */
  readonly signal: AbortSignal;
}

/** Plays the morning against a running queue: the import, then the small tenants, until these (or all, with `drain`) are done. */
export async function runDemo(apiUrl: string, jobs: number, drain: boolean, view: DemoView): Promise<DemoResult> {
  const api = new DemoApi(apiUrl);
  const { big, small } = demoTenants(jobs);
  const all = [big, ...small];
  const plans = new Map(all.map(({ tenant, plan }) => [tenant, plan]));
  const shares = new Shares();
  const arrivals = new Map<string, { atMs: number; fifoWaitSeconds: number }>();
  const waits = new Map<string, number>();
  for (const tenant of all) await api.subscribe(tenant);

  let status = '';
  const sample = async (): Promise<TableRow[]> => {
    const states = await Promise.all(all.map(({ tenant }) => api.state(tenant)));
    const atMs = performance.now();
    shares.add({ atMs, states });
    for (const { tenant, jobs: expected } of small) {
      const arrived = arrivals.get(tenant);
      const done = states.find((state) => state.tenant === tenant)?.done ?? 0;
      if (arrived && done >= expected && !waits.has(tenant)) waits.set(tenant, (atMs - arrived.atMs) / 1000);
    }
    const rows = shares.rows().map((row) => ({
      ...row,
      plan: plans.get(row.tenant) ?? '',
      waitSeconds: waits.get(row.tenant) ?? null,
    }));
    view.show(rows, status);
    return rows;
  };
  /** Samples until the condition holds for a reading. */
  const watchUntil = async (condition: (rows: TableRow[]) => boolean): Promise<TableRow[]> => {
    for (;;) {
      view.signal.throwIfAborted();
      const rows = await sample();
      if (condition(rows)) return rows;
      await pause(SAMPLE_MS, undefined, { signal: view.signal });
    }
  };

  let imported = false;
  const importAll = async () => {
    await api.enqueueAll(big, (enqueued) => {
      status = `acme imports: ${enqueued.toLocaleString('en')} of ${jobs.toLocaleString('en')} jobs enqueued`;
    });
    imported = true;
  };
  await Promise.all([importAll(), watchUntil(() => imported)]);
  status = 'acme drains';
  // A full window without the import's own load: the rate that a FIFO would have had as well.
  const drainingFromMs = performance.now();
  await watchUntil(() => performance.now() - drainingFromMs > WINDOW_MS && shares.rate() > 0);

  const before = await sample();
  const fifoWaitSeconds = (before[0]?.depth ?? 0) / shares.rate();
  for (const tenant of small) {
    await api.enqueueAll(tenant, () => undefined);
    arrivals.set(tenant.tenant, { atMs: performance.now(), fifoWaitSeconds });
  }
  status = small.map(({ tenant, jobs: count }) => `${tenant} came with ${count} jobs`).join(', ');
  const atEnd = await watchUntil(() => waits.size === small.length);
  const ratePerSecond = shares.rate();
  if (drain) {
    status = 'the small tenants are done; acme drains to its end';
    await watchUntil(([row]) => (row?.done ?? 0) >= jobs);
  }
  return {
    jobs,
    sleepMs: SLEEP_MS,
    stillWaiting: atEnd[0]?.depth ?? 0,
    ratePerSecond,
    small: small.map(({ tenant, jobs: count }) => ({
      tenant,
      jobs: count,
      waitSeconds: waits.get(tenant) ?? Number.NaN,
      fifoWaitSeconds: arrivals.get(tenant)?.fifoWaitSeconds ?? Number.NaN,
    })),
  };
}
