import { parseSettings } from '../../../functions/lib/config/parse.ts';
import {
  eventMetrics,
  queueMetrics,
  tenantMetrics,
  TOP_TENANTS,
} from '../../../functions/lib/telemetry/metric-names.ts';
import { HOURS, nodes, prices } from './prices.ts';

/** What a queue is asked to do in a month, and how it is built. */
export interface Workload {
  readonly jobs: number;
  /** Of the user's own handler, ms a job. */
  readonly meanMs: number;
  readonly payloadBytes: number;
  /** Jobs in one enqueue request. */
  readonly batch: number;
  /** Jobs in one visit; with SQS, in one receive. */
  readonly visit: number;
  /** Visits that one invocation of `process` goes through, chaining from one to the next. */
  readonly chain: number;
  /** Part of the month, 0 to 1, in which a job waits or runs: a dispatcher is then up all the time. */
  readonly busy: number;
  readonly engine: 'redis' | 'valkey';
  readonly nodeType: string;
  readonly replicas: number;
}

/** Billed time that is not the handler's, in ms: a round trip to Redis or two, and the answer. */
const assumedMs = { enqueue: 15, visit: 20, monitor: 100, idleDispatch: 50, sqsInvocation: 5 };
/** Bytes of log a request, a visit, an invocation's START to REPORT, and a minute of `monitor`. */
const assumedLog = { request: 900, visit: 700, invocation: 350, monitor: 25_000 };
export const RULES = 3;
const ZONES = 2;
/** An event source polls with 5 receives at once, each waiting up to 20 s, also when nothing comes. */
const IDLE_RECEIVES = (5 * 3_600 * HOURS) / 20;
const SQS_ALARMS = 3;
const SQS_CHUNK = 64 * 1_024;
const HTTP_CHUNK = 512 * 1_024;
const SQS_BATCH = 10;

const MILLION = 1e6;
const GB = 1e9;
const MINUTES = HOURS * 60;

/** Lines of a bill: what it is for, and dollars a month. */
export type Bill = readonly (readonly [line: string, usd: number])[];

export const total = (bill: Bill): number => bill.reduce((sum, [, usd]) => sum + usd, 0);

const functionTime = (seconds: number, memoryMb: number) => seconds * (memoryMb / 1_024) * prices.lambdaTime.usd;
const requests = (count: number) => (count / MILLION) * prices.lambdaRequest.usd;
const logs = (bytes: number) => (bytes / GB) * prices.logs.usd;

/** Custom metrics of a queue with more tenants than have a label of their own. */
export const metricCount = (): number =>
  Object.keys(queueMetrics).length +
  Object.keys(eventMetrics).length +
  Object.keys(tenantMetrics).length * (TOP_TENANTS + 1);

/**
 * Metrics that the alarms look at: an alarm is counted once for each, the dearer way to read the price list. Six look at one,
 * two at all nodes of the cache, DispatcherSilent at five and ApiErrors at two.
 */
export const alarmMetrics = (replicas: number): number => 6 + 2 * (1 + replicas) + 5 + 2;

const { memory } = parseSettings({});

/** The time of the user's own handlers: the same whichever queue hands them the jobs. */
export const handlerTime = ({ jobs, meanMs }: Workload): number =>
  functionTime((jobs * meanMs) / 1_000, memory.process);

/** A month of Rota without the handlers' own time. */
export function rotaBill(load: Workload): Bill {
  const node = nodes[load.nodeType];
  if (!node) throw new Error(`no price of ${load.nodeType}, expected one of ${Object.keys(nodes).join(', ')}`);
  const posts = load.jobs / load.batch;
  const visits = load.jobs / load.visit;
  const invocations = visits / load.chain;
  const gigabytes = (load.jobs * load.payloadBytes) / GB;
  const httpUnits = posts * Math.ceil((load.batch * load.payloadBytes) / HTTP_CHUNK);
  return [
    [
      `Cache: ${1 + load.replicas} × ${load.nodeType}, ${load.engine}`,
      (1 + load.replicas) * node.usdPerHour[load.engine] * HOURS,
    ],
    [`Endpoint for Lambda, ${ZONES} zones`, ZONES * prices.endpoint.usd * HOURS],
    [`${metricCount()} custom metrics`, metricCount() * prices.metric.usd],
    [
      'Dashboard, alarms, Contributor Insights',
      prices.dashboard.usd +
        alarmMetrics(load.replicas) * prices.alarm.usd +
        RULES * prices.insightsRule.usd +
        (visits / MILLION) * RULES * prices.insightsEvents.usd,
    ],
    [
      'Schedules, monitor, idle dispatcher',
      ((2 * MINUTES) / MILLION) * prices.schedule.usd +
        requests(2 * MINUTES) +
        functionTime((MINUTES * assumedMs.monitor) / 1_000, memory.monitor) +
        functionTime((MINUTES * (1 - load.busy) * assumedMs.idleDispatch) / 1_000, memory.dispatch),
    ],
    ['Dispatcher while there is work', functionTime(load.busy * HOURS * 3_600, memory.dispatch)],
    ['HTTP API', (httpUnits / MILLION) * prices.httpApi.usd],
    ['enqueue', requests(posts) + functionTime((posts * assumedMs.enqueue) / 1_000, memory.enqueue)],
    [
      'process, beside the handlers',
      requests(invocations) + functionTime((visits * assumedMs.visit) / 1_000, memory.process),
    ],
    [
      'Logs',
      logs(
        MINUTES * (assumedLog.monitor + 2 * assumedLog.invocation) +
          posts * (assumedLog.request + assumedLog.invocation) +
          visits * assumedLog.visit +
          invocations * assumedLog.invocation,
      ),
    ],
    // In and out of Redis, half of the functions in the other zone, billed on either side.
    ['Traffic between zones', gigabytes * 2 * 0.5 * 2 * prices.crossZone.usd],
  ];
}

/** A month of an SQS fair queue that invokes a function, without the handlers' own time. Producers call SQS themselves. */
export function sqsBill(load: Workload): Bill {
  const perRequest = (prices.sqsRequest.usd + prices.sqsFair.usd) / MILLION;
  const sent = Math.min(load.batch, SQS_BATCH);
  const received = Math.min(load.visit, SQS_BATCH);
  const chunks = (count: number) => (load.jobs / count) * Math.ceil((count * load.payloadBytes) / SQS_CHUNK);
  const invocations = load.jobs / received;
  return [
    [`Send, ${sent} a request`, chunks(sent) * perRequest],
    [`Receive and delete, ${received} a request`, (chunks(received) + invocations) * perRequest],
    ['Receives of an idle queue', ((IDLE_RECEIVES * (1 - load.busy)) / MILLION) * prices.sqsRequest.usd],
    [
      'Function, beside the handlers',
      requests(invocations) + functionTime((invocations * assumedMs.sqsInvocation) / 1_000, memory.process),
    ],
    ['Alarms', SQS_ALARMS * prices.alarm.usd],
    ['Logs', logs(invocations * assumedLog.invocation)],
  ];
}

/** Jobs a month from which Rota costs less than SQS, all else equal; null when each job of Rota costs as much or more. */
export function breakEven(load: Workload): number | null {
  const at = (jobs: number) => {
    const scaled = { ...load, jobs };
    return total(rotaBill(scaled)) - total(sqsBill(scaled));
  };
  const perJob = (at(MILLION) - at(0)) / MILLION;
  return perJob >= 0 ? null : at(0) / -perJob;
}
