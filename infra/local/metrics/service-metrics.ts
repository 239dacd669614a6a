import { Redis } from 'ioredis';
import type { Template } from '../template.ts';
import type { MetricId } from './metric.ts';
import type { MetricStore } from './store.ts';

/** What the Lambda service counts of a function, under its names; times in ms. */
export type LambdaMetric =
  | 'Invocations'
  | 'Errors'
  | 'Throttles'
  | 'Duration'
  | 'ConcurrentExecutions'
  | 'AsyncEventsReceived'
  | 'AsyncEventAge'
  | 'AsyncEventsDropped';

export type OnLambdaMetric = (functionName: string, metric: LambdaMetric, value: number) => void;

/** A request that the HTTP API answered. */
export interface AnsweredRequest {
  readonly status: number;
  readonly latencyMs: number;
  /** How long the integration took; undefined when the gateway answered by itself. */
  readonly integrationMs: number | undefined;
}

type Dimensions = MetricId['dimensions'];

const REDIS_EVERY_MS = 10_000;

/** Keeps what the services of AWS would measure of a run, as far as it can be observed here, under their names. */
export class ServiceMetrics {
  readonly #store: MetricStore;
  readonly #apiIds: string[];
  readonly #clusterIds: string[];

  constructor(store: MetricStore, template: Template) {
    this.#store = store;
    this.#apiIds = template.resources('AWS::ApiGatewayV2::Api').map(({ name }) => name);
    // One shard and of it the first node: the only one that there is here.
    this.#clusterIds = template.resources('AWS::ElastiCache::ReplicationGroup').map(({ name }) => `${name}-0001-001`);
  }

  readonly onLambda: OnLambdaMetric = (functionName, name, value) => {
    const dimensions = { FunctionName: functionName };
    this.#store.record({ namespace: 'AWS/Lambda', name, dimensions, timeMs: Date.now(), value });
  };

  readonly onRequest = ({ status, latencyMs, integrationMs }: AnsweredRequest): void => {
    const timeMs = Date.now();
    const values: Record<string, number> = {
      Count: 1,
      '4xx': Number(status >= 400 && status < 500),
      '5xx': Number(status >= 500),
      Latency: latencyMs,
      ...(integrationMs !== undefined && { IntegrationLatency: integrationMs }),
    };
    for (const ApiId of this.#apiIds) {
      const all: Dimensions[] = [{ ApiId }, { ApiId, Stage: '$default' }];
      for (const dimensions of all) {
        for (const [name, value] of Object.entries(values)) {
          this.#store.record({ namespace: 'AWS/ApiGateway', name, dimensions, timeMs, value });
        }
      }
    }
  };

  /** Looks into the Redis now and every 10 s, until the returned function is called. One that is away has no values. */
  watchRedis(url: string): () => void {
    const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, enableOfflineQueue: true });
    client.on('error', () => undefined);
    let before: Reading | undefined;
    const look = async () => {
      const after = await readRedis(client).catch(() => undefined);
      if (after) this.#onRedis(after, before);
      before = after;
    };
    const timer = setInterval(() => void look(), REDIS_EVERY_MS);
    timer.unref();
    void look();
    return () => {
      clearInterval(timer);
      client.disconnect();
    };
  }

  #onRedis(after: Reading, before: Reading | undefined): void {
    const timeMs = Date.now();
    for (const CacheClusterId of this.#clusterIds) {
      const all: Dimensions[] = [{ CacheClusterId }, { CacheClusterId, CacheNodeId: '0001' }];
      for (const dimensions of all) {
        for (const [name, value] of Object.entries(redisMetrics(after, before))) {
          this.#store.record({ namespace: 'AWS/ElastiCache', name, dimensions, timeMs, value });
        }
      }
    }
  }
}

/** The numbers of INFO by field, and when they were read (ms of a steady clock). */
interface Reading {
  readonly atMs: number;
  readonly info: Readonly<Record<string, number>>;
}

async function readRedis(client: Redis): Promise<Reading> {
  const text = await client.info('everything');
  const fields = [...text.matchAll(/^(\w+):(-?[\d.]+)\r?$/gm)].map(
    ([, name = '', value]) => [name, Number(value)] as const,
  );
  const keys = /^db0:keys=(\d+)/m.exec(text)?.[1] ?? 0;
  return { atMs: performance.now(), info: { ...Object.fromEntries(fields), keys: Number(keys) } };
}

/**
 * ElastiCache's metrics out of two readings of INFO, as its documentation derives them. Without a `maxmemory` the share of
 * memory is of the machine's: the node type's limit exists on AWS alone.
 */
function redisMetrics({ atMs, info }: Reading, before: Reading | undefined): Record<string, number> {
  const of = (field: string, reading = info) => reading[field] ?? 0;
  const limit = of('maxmemory') || of('total_system_memory') || Infinity;
  const gauges = {
    BytesUsedForCache: of('used_memory'),
    DatabaseMemoryUsagePercentage: (100 * of('used_memory')) / limit,
    CurrConnections: of('connected_clients'),
    CurrItems: of('keys'),
    MemoryFragmentationRatio: of('mem_fragmentation_ratio'),
  };
  const elapsedMs = before ? atMs - before.atMs : 0;
  // A restart sets the counters back; until the next reading there is nothing to tell.
  if (!before || elapsedMs <= 0 || of('total_commands_processed') < of('total_commands_processed', before.info)) {
    return gauges;
  }
  const grown = (field: string) => of(field) - of(field, before.info);
  // Redis works in one thread; versions before 6.2 do not tell its share of the process.
  const thread = 'used_cpu_user_main_thread' in info ? '_main_thread' : '';
  const busySeconds = grown(`used_cpu_user${thread}`) + grown(`used_cpu_sys${thread}`);
  return {
    ...gauges,
    EngineCPUUtilization: (100_000 * busySeconds) / elapsedMs,
    NewConnections: grown('total_connections_received'),
    Evictions: grown('evicted_keys'),
    NetworkBytesIn: grown('total_net_input_bytes'),
    NetworkBytesOut: grown('total_net_output_bytes'),
  };
}
