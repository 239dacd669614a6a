import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Local, startLocal } from '../../infra/local/local.ts';
import { startBrowser } from '../support/browser.ts';

/** Makes the pictures of the dashboard for the README, of a real run of five minutes. */

const FOLDER = join(import.meta.dirname, '../../infra/docs/images');
const RUN_MS = 320_000;
const CAPACITY = 12;

/** Who enqueues: how many jobs every two seconds, of how many ms, from when on. What is too much for a cap is refused. */
const TENANTS = [
  { tenant: 'northwind', plan: 'enterprise', jobs: 60, ms: 250, fromMs: 0 },
  { tenant: 'globex', plan: 'growth', jobs: 40, ms: 250, fromMs: 0 },
  { tenant: 'acme', plan: 'free', jobs: 30, ms: 250, fromMs: 0, maxDepth: 900 },
  { tenant: 'initech', plan: 'growth', jobs: 36, ms: 250, fromMs: 110_000 },
  { tenant: 'umbrella', plan: 'free', jobs: 1, ms: 100, fromMs: 20_000 },
];

const local = await startLocal({
  context: { 'rota.capacity': String(CAPACITY) },
  monitorSeconds: 10,
  mostEnvironments: CAPACITY,
  onProgress: console.error,
});
const browser = await startBrowser();
try {
  for (const { tenant, plan, maxDepth } of TENANTS) {
    await call(local, 'PUT', `/v1/tenants/${tenant}`, { plan, ...(maxDepth !== undefined && { maxDepth }) });
  }
  await flood(local);
  await mkdir(FOLDER, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    await shoot(`dashboard-${colorScheme}`, { colorScheme, viewport: { width: 1240, height: 905 } });
  }
  await shoot('dashboard-phone', { colorScheme: 'light', viewport: { width: 390, height: 844 } });
} finally {
  await browser.close();
  await local.stop();
}

async function flood(run: Local): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < RUN_MS) {
    const round = wait(2_000);
    const present = TENANTS.filter(({ fromMs }) => Date.now() - startedAt >= fromMs);
    const calls = present.map(({ tenant, jobs, ms }) =>
      call(run, 'POST', '/v1/jobs', {
        tenant,
        jobs: Array.from({ length: jobs }, () => ({ type: 'sleep', payload: { ms } })),
      }),
    );
    await Promise.all([round, ...calls]);
  }
}

/** @throws Error for any answer but success and the refusal at a cap. */
async function call(run: Local, method: string, path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${run.apiUrl}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok && response.status !== 429) throw new Error(`${method} ${path}: ${await response.text()}`);
}

async function shoot(
  name: string,
  options: { colorScheme: 'light' | 'dark'; viewport: { width: number; height: number } },
): Promise<void> {
  const context = await browser.newContext({ ...options, locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(local.dashboardUrl);
  await page.locator('.tenants tbody tr').first().waitFor();
  // The bars move into place.
  await page.waitForTimeout(1_000);
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path });
  await context.close();
  console.error(`${path}: ${Math.round((await stat(path)).size / 1_000)} KB`);
}
