import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Alarms } from '../metrics/alarms.ts';
import type { Dashboard } from '../metrics/dashboards.ts';
import { timesOf } from '../metrics/metric.ts';
import type { MetricStore } from '../metrics/store.ts';
import { NAMESPACE, queueMetrics } from '../../../functions/lib/telemetry/metric-names.ts';
import { bundlePage } from './bundle.ts';
import type { Tenants } from './tenants.ts';
import type { DashboardView } from './view.ts';
import { viewWidget, withoutAlarms } from './widgets.ts';

/** Where the page is served: no route of the contract, and nothing that is deployed. */
export const DASHBOARD_PATH = '/dashboard';

/** Whether a request is for the page or for what it loads. */
export const isDashboard = ({ url = '' }: IncomingMessage): boolean =>
  `${url.split('?')[0]}/`.startsWith(`${DASHBOARD_PATH}/`);

export interface DashboardOptions {
  readonly queue: string;
  readonly store: MetricStore;
  readonly alarms: Alarms;
  readonly dashboards: readonly Dashboard[];
  readonly tenants: Tenants;
  /** How often monitor is invoked here, and how often the template says, in seconds. */
  readonly monitorSeconds: { readonly here: number; readonly onAws: number };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const RANGES_SECONDS = [300, 900, 3_600, 10_800];

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Rota</title>
<link rel="icon" href="${DASHBOARD_PATH}/icon.svg">
<link rel="stylesheet" href="${DASHBOARD_PATH}/page.css">
<body>
<noscript>This page draws its charts with JavaScript.</noscript>
<script type="module" src="${DASHBOARD_PATH}/page.js"></script>
</body>
</html>
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#3b6fd4" stroke-width="3"><path d="M8 2a6 6 0 0 1 6 6"/><path d="M14 8a6 6 0 0 1-9 5.2" opacity=".65"/><path d="M5 13.2A6 6 0 0 1 8 2" opacity=".3"/></g></svg>`;

/** The dashboard as a page that keeps itself up to date. */
export function dashboardServer(options: DashboardOptions): Handler {
  let bundle: ReturnType<typeof bundlePage> | undefined;
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const send = (status: number, type: string, body: string) =>
      response
        .writeHead(status, { ...HEADERS, 'content-type': type })
        .end(request.method === 'HEAD' ? undefined : body);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return void send(405, 'text/plain', 'GET only\n');
    }
    switch (url.pathname.slice(DASHBOARD_PATH.length)) {
      case '':
      case '/':
        return void send(200, 'text/html; charset=utf-8', HTML);
      case '/page.js':
        return void send(200, 'text/javascript; charset=utf-8', (await (bundle ??= bundlePage())).script);
      case '/page.css':
        return void send(200, 'text/css; charset=utf-8', (await (bundle ??= bundlePage())).style);
      case '/icon.svg':
        return void send(200, 'image/svg+xml', ICON);
      case '/data': {
        const view = await viewOf(options, Number(url.searchParams.get('range')));
        return void send(200, 'application/json', JSON.stringify(view));
      }
      default:
        return void send(404, 'text/plain', 'No such page\n');
    }
  };
}

async function viewOf(options: DashboardOptions, wantedSeconds: number): Promise<DashboardView> {
  const { queue, store, alarms, dashboards, tenants, monitorSeconds } = options;
  const nowMs = Date.now();
  const [shortest = 300] = RANGES_SECONDS;
  const rangeMs = (RANGES_SECONDS.includes(wantedSeconds) ? wantedSeconds : shortest) * 1_000;
  // A point for every reading of monitor, but not more than a screen can show.
  const stepMs = Math.max(monitorSeconds.here * 1_000, rangeMs / 360);
  const endMs = Math.floor(nowMs / stepMs) * stepMs;
  const window = { startMs: endMs - rangeMs, endMs, stepMs };
  const capacity = store
    .metrics()
    .find(({ namespace, name }) => namespace === NAMESPACE && name === queueMetrics.capacity.name);
  return {
    nowMs,
    queue,
    times: timesOf({ ...window, periodMs: stepMs }).map((start) => start + stepMs),
    monitor: {
      lastMs: (capacity && store.newestMs(capacity)) ?? null,
      everySeconds: monitorSeconds.here,
      onAwsSeconds: monitorSeconds.onAws,
    },
    alarms: alarms.evaluate(nowMs),
    tenants: await tenants.view(nowMs),
    widgets: dashboards.flatMap(({ widgets }) =>
      withoutAlarms(widgets).map((widget) => viewWidget(widget, store, window)),
    ),
  };
}
