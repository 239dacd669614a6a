import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { NAMESPACE } from '../../functions/lib/telemetry/metric-names.ts';
import { parseEmf } from '../../infra/local/metrics/emf.ts';
import { advance } from '../support/advance.ts';
import { startBrowser } from '../support/browser.ts';
import { lookAt } from '../support/monitor.ts';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

const WEIGHTS = { enterprise: 8, growth: 3, free: 1 };
const PLANS = ['enterprise', 'growth', 'free'] as const;
/** As markup it would run a script; it is as long as an id may be, and has no place to break a line at. */
const HOSTILE = `<img src=x onerror="document.title=1">${'x'.repeat(90)}`;
const MINUTE_MS = 60_000;

let stack: Stack;
let browser: Browser;
/** What any page complained of. */
const complaints: string[] = [];

beforeAll(async () => {
  [browser, stack] = await Promise.all([startBrowser(), startStack({ 'rota.capacity': '5' }, { monitorSeconds: 10 })]);
});

afterAll(() => browser.close());

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() !== 'log') complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(stack.apiUrl)) complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(stack.dashboardUrl);
  await page.getByText(/^Live/).waitFor();
  return page;
}

/** Has `monitor` look at the queue; returns the line that it wrote of the queue. */
const look = async (): Promise<string> =>
  JSON.stringify((await lookAt(stack)).find(({ tenant }) => tenant === undefined)?.line);

/** Puts a line of monitor into the past, as if it had written it in each of these minutes. */
function restamp(line: string, minutesAgo: number[]): void {
  for (const minutes of minutesAgo) {
    const timestamp = Date.now() - minutes * MINUTE_MS;
    const stamped = line.replace(/"Timestamp":\d+/, `"Timestamp":${timestamp}`);
    stack.metrics.record(...parseEmf(stamped, (problem) => expect.fail(problem)));
  }
}

const minutes = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

const pause = (paused: boolean) => stack.redis.hset(stack.keys.config, 'paused', Number(paused));

const percentIn = (text: string | null) => Number(/^([\d.]+) %/.exec(text ?? '')?.[1]);

test('says what it waits for before monitor has read anything', async () => {
  const page = await open();
  const card = page.locator('[data-widget="Depth by tenant"]');
  expect(await card.locator('.empty').textContent()).toBe('Waits for monitor’s first reading, at most 10 s.');
  expect(await page.locator('.tenants .empty').textContent()).toBe(
    'Nobody waits, and nobody was served in the last minutes.',
  );
  await page.context().close();
});

test('shows 8 : 3 : 1 within 5 % from the metrics of a contended stretch', async () => {
  const page = await open();
  await pause(true);
  for (const plan of PLANS) {
    await stack.subscribe(plan, { plan });
    await stack.enqueue(plan, jobsOf(4_000, 'sleep', { ms: 2 }));
  }
  await look();
  await pause(false);
  stack.fire('dispatch');
  await vi.waitFor(async () => expect((await stack.queueView()).totals.served).toBeGreaterThan(4_000), {
    timeout: 60_000,
    interval: 20,
  });
  await look();
  // What is left keeps the tenants on the page.
  await pause(true);
  const panel = page.locator('[data-widget^="Share of service"]');
  for (const plan of PLANS) {
    const entitled = (100 * WEIGHTS[plan]) / 12;
    const row = page.locator(`tr[data-tenant="${plan}"]`);
    await vi.waitFor(
      async () => {
        const realised = percentIn(await row.locator('.realised').textContent());
        expect(Math.abs(realised / entitled - 1)).toBeLessThanOrEqual(0.05);
        expect(await row.locator('.entitled').textContent()).toBe(`of ${entitled.toFixed(1)} %`);
        const drawn = panel.locator('.legend li', { has: page.getByText(plan, { exact: true }) }).locator('.value');
        expect(percentIn(await drawn.textContent())).toBeCloseTo(realised, 1);
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(await row.locator('.plan').textContent()).toBe(plan);
    expect(await row.locator('.weight').textContent()).toBe(String(WEIGHTS[plan]));
  }
  for (const plan of PLANS) await stack.call('DELETE', `/v1/tenants/${plan}`);
  await pause(false);
  await page.context().close();
});

test('every widget has data, once there was a refusal too', async () => {
  await stack.subscribe('capped', { maxDepth: 1 });
  expect((await stack.call('POST', '/v1/jobs', { tenant: 'capped', jobs: jobsOf(2, 'echo') })).status).toBe(429);
  await stack.enqueue('capped', jobsOf(1, 'echo'));
  await stack.drained();
  await look();
  const page = await open();
  const cards = page.locator('.widgets .card.chart');
  expect(await cards.count()).toBeGreaterThan(10);
  await vi.waitFor(
    async () => {
      const without: (string | null)[] = [];
      for (const card of await cards.all()) {
        const values = await card.locator('.legend .value').allTextContents();
        if (values.length === 0 || values.includes('–')) without.push(await card.getAttribute('data-widget'));
      }
      expect(without).toEqual([]);
    },
    { timeout: 60_000, interval: 500 },
  );
  await page.context().close();
});

test('TenantStarved and DispatcherSilent turn red when a tenant is starved, and back when it is served', async () => {
  const page = await open();
  const headline = page.locator('.alarms h2');
  const alarm = (name: string) => page.locator(`.alarm-list [data-alarm$="-${name}"]`);
  const stateIs = (name: string, state: string) =>
    vi.waitFor(async () => expect(await alarm(name).getAttribute('data-state')).toBe(state), {
      timeout: 20_000,
      interval: 200,
    });
  await stateIs('TenantStarved', 'OK');

  // Nobody dispatches: five jobs are ready for 16 minutes, and nothing of the tenant's own holds them back.
  await pause(true);
  await stack.enqueue(HOSTILE, jobsOf(5, 'echo'));
  await vi.waitFor(() => expect(stack.pendingEvents('dispatch')).toBe(0), { timeout: 20_000, interval: 50 });
  await advance(stack.redis, stack.queue, 16 * MINUTE_MS);
  await pause(false);
  const starved = await look();
  // What monitor said before, when nobody was starved, may be of the same minutes.
  stack.metrics.clear(({ namespace }) => namespace === NAMESPACE);
  restamp(starved, minutes(12, 3));
  await stateIs('TenantStarved', 'ALARM');
  await stateIs('DispatcherSilent', 'ALARM');
  expect(await headline.textContent()).toBe('2 alarms are firing');
  await alarm('TenantStarved').locator('summary').click();
  expect(await alarm('TenantStarved').locator('.why').textContent()).toContain('10 of the last 10 points were above 0');

  stack.fire('dispatch');
  await stack.drained();
  restamp(await look(), minutes(2, 1));
  await stateIs('TenantStarved', 'OK');
  await stateIs('DispatcherSilent', 'OK');
  expect(await headline.textContent()).toBe('No alarm is firing');
  await page.context().close();
});

test('a tenant id that looks like markup is text', async () => {
  await pause(true);
  await stack.enqueue(HOSTILE, jobsOf(2, 'echo'));
  await look();
  const page = await open();
  const row = page.locator('.tenants tbody tr', { hasText: HOSTILE });
  await row.waitFor();
  expect(await row.locator('bdi').textContent()).toBe(HOSTILE);
  await page.locator('.legend', { hasText: HOSTILE }).first().waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.title()).toBe(`Rota ${stack.queue}`);
  await pause(false);
  await page.context().close();
});

test.each(['light', 'dark'] as const)('fits a phone without scrolling sideways, %s', async (colorScheme) => {
  const page = await open({ viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true, colorScheme });
  await page.locator('.widgets .card').last().waitFor();
  // As on a phone, the window grows with what does not fit.
  const [whole, seen] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  expect([whole, seen]).toEqual([360, 360]);
  const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  expect(background).toBe(colorScheme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(15, 17, 21)');
  await page.context().close();
});

test('allows nothing but its own script and style, and nothing else is served there', async () => {
  const page = await fetch(stack.dashboardUrl);
  expect(page.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  );
  expect((await fetch(`${stack.dashboardUrl}/../../package.json`)).status).toBe(404);
  expect((await fetch(`${stack.dashboardUrl}/nothing`)).status).toBe(404);
  expect((await fetch(stack.dashboardUrl, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${stack.apiUrl}/dashboards`)).status).toBe(404);
});

test('no page has complained of anything', () => {
  expect(complaints).toEqual([]);
});
