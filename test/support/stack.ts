import { Cluster } from 'ioredis';
import { afterAll, expect, vi } from 'vitest';
import type { QueueBody } from '../../functions/contract/queue.ts';
import type { TenantBody } from '../../functions/contract/tenants.ts';
import { fromEnv } from '../../functions/lib/config/env.ts';
import { type QueueConfig, queueConfig } from '../../functions/lib/config/queue-config.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { type QueueKeys, queueKeys } from '../../functions/lib/queue/keys.ts';
import { clientOptions } from '../../infra/local/redis-server.ts';
import { type Local, type LocalOptions, startLocal } from '../../infra/local/local.ts';
import { type Answer, request } from './request.ts';

export type { Answer } from './request.ts';

export interface Job {
  type: string;
  payload: unknown;
  delaySeconds?: number;
  cost?: number;
  maxAttempts?: number;
  timeoutSeconds?: number;
}

type SubscriptionRecord = TenantBody['record'];

/** A running copy of the stack with what tests of the whole need: its HTTP API, and a look into its Redis. */
export interface Stack extends Local {
  queue: string;
  /** Value of the dimension `queue` of its metrics. */
  metricsName: string;
  keys: QueueKeys;
  /** As a user who may do everything. */
  redis: Cluster;
  /** What failed or was dropped behind the callers' backs, as the runner tells it. */
  problems: string[];
  /** The whole name of a function, such as a client of Lambda calls it by; the word itself when there is none. */
  functionName(word: string): string;
  /** One request with a JSON body, or without a body. */
  call<Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>;
  /** Enqueues in batches of 500, four at once. Returns the ids, batch by batch. @throws Error when one is not admitted */
  enqueue(tenant: string, jobs: readonly Job[]): Promise<string[]>;
  /** Puts a tenant's subscription record. */
  subscribe(tenant: string, record: SubscriptionRecord): Promise<void>;
  tenant(tenant: string): Promise<TenantBody>;
  /** The tenants with waiting jobs, all at one moment. */
  waitingTenants(): Promise<TenantBody[]>;
  queueView(): Promise<QueueBody>;
  /** Waits until nothing is waiting and nothing in flight; returns the queue's view of then. */
  drained(timeoutMs?: number): Promise<QueueBody>;
  /** Configures the queue as a newer deploy with these bounds would. An emptied Redis is back at the stack's own. */
  configure(changes: Partial<QueueConfig>): Promise<void>;
}

/** Settings that the files share, so that one synth serves them all; differ only where a file must. */
const SHARED = { 'rota.webhook.allowedHosts': '127.0.0.1' };

const BATCH = 500;
const REQUESTS_AT_ONCE = 4;

/**
 * Starts the stack for a test file and ends it after the file's tests. Schedules do not fire by themselves unless asked to:
 * what starts a dispatcher is then what the test does.
 *
 * @param settings as `-c` gives them, such as `{'rota.capacity': '5'}`
 */
export async function startStack(settings: Record<string, string> = {}, options: LocalOptions = {}): Promise<Stack> {
  const problems: string[] = [];
  const local = await startLocal({
    context: { ...SHARED, ...settings },
    schedules: false,
    onProblem: (line) => problems.push(line),
    ...options,
  });
  const deployed = fromEnv(local.functions.find(({ name }) => name.endsWith('-monitor'))?.env ?? {});
  const { host, port, ...redisOptions } = clientOptions({ url: local.redisUrl, caFile: local.redisCaFile });
  const redis = new Cluster([{ host, port }], { redisOptions });
  // Some tests take Redis away.
  redis.on('error', () => undefined);
  const client = createQueueClient({ redis, queue: deployed.queue, shard: deployed.shard });
  afterAll(async () => {
    redis.disconnect();
    const refused = (await local.calls()).filter(({ allowed }) => !allowed);
    await local.stop();
    // Refusals are often survived without a word: a wake that is not sent is made up for by the schedule.
    expect(refused, 'calls that the policies of the template refuse').toEqual([]);
  });

  const call = <Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> =>
    request(local.apiUrl, path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  async function expectCall<Body>(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await call<Body>(method, path, body);
    if (answer.status === status) return answer.body;
    throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`);
  }

  const functionName = (word: string) => local.functions.find(({ name }) => name.endsWith(`-${word}`))?.name ?? word;

  const queueView = () => expectCall<QueueBody>(200, 'GET', '/v1/queue');
  let configurations = 0;

  return {
    ...local,
    queue: deployed.queue,
    metricsName: deployed.metricsName,
    keys: queueKeys(deployed.queue, deployed.shard),
    redis,
    problems,
    functionName,
    call,
    async enqueue(tenant, jobs) {
      const batches = Array.from({ length: Math.ceil(jobs.length / BATCH) }, (_, i) =>
        jobs.slice(i * BATCH, (i + 1) * BATCH),
      );
      const ids: string[][] = [];
      const waiting = batches.entries();
      const produce = async () => {
        for (const [i, batch] of waiting) {
          const accepted = await expectCall<{ jobs: { id: string }[] }>(202, 'POST', '/v1/jobs', {
            tenant,
            jobs: batch,
          });
          ids[i] = accepted.jobs.map(({ id }) => id);
        }
      };
      await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, produce));
      return ids.flat();
    },
    subscribe: async (tenant, record) => {
      await expectCall(200, 'PUT', `/v1/tenants/${tenant}`, record);
    },
    tenant: (tenant) => expectCall<TenantBody>(200, 'GET', `/v1/tenants/${tenant}`),
    waitingTenants: async () => {
      const page = await expectCall<{ tenants: TenantBody[] }>(200, 'GET', '/v1/tenants?limit=1000');
      return page.tenants;
    },
    queueView,
    drained: async (timeoutMs = 30_000) =>
      await vi.waitFor(
        async () => {
          const view = await queueView();
          if (view.depth + view.inFlight > 0) throw new Error(`not drained: ${JSON.stringify(view)}`);
          return view;
        },
        { timeout: timeoutMs, interval: 50 },
      ),
    configure: async (changes) => {
      configurations++;
      const config = queueConfig(deployed);
      await client.configure({ ...config, version: config.version + configurations, ...changes });
    },
  };
}

/** So many equal jobs. */
export function jobsOf(count: number, type: string, payload: unknown = {}): Job[] {
  return Array.from({ length: count }, () => ({ type, payload }));
}
