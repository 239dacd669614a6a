import type { IncomingMessage, ServerResponse } from 'node:http';
import { readAssembly } from './assembly.ts';
import { DASHBOARD_PATH, dashboardServer, isDashboard } from './dashboard/server.ts';
import { Tenants } from './dashboard/tenants.ts';
import { type DeclaredFunction, functionsOfQueue, nameOf, queueOf, readFunctions } from './functions.ts';
import { httpApi } from './http-api.ts';
import { readRoutes, readThrottle, type Route } from './http-routes.ts';
import { type LocalServer, serve } from './http-server.ts';
import { invokeApi } from './invoke-api.ts';
import { LambdaService } from './lambda-service.ts';
import { LogStore } from './log-store.ts';
import { type DecidedCall, Permissions } from './permissions.ts';
import { adoptRedis, applyTemplate, checkRedisUrl, type QueueRedis } from './queue-redis.ts';
import { Alarms, type AlarmState } from './metrics/alarms.ts';
import { type Dashboard, readDashboards } from './metrics/dashboards.ts';
import { parseEmf } from './metrics/emf.ts';
import { ServiceMetrics } from './metrics/service-metrics.ts';
import { MetricStore } from './metrics/store.ts';
import { type RunningRedis, startRedis } from './redis-server.ts';
import { readSchedules, Scheduler } from './schedules.ts';
import { isSecretsRequest, Secrets, secretsApi } from './secrets.ts';
import { checkServiceCalls } from './service-calls.ts';
import { synthesize } from './synth.ts';
import { Template } from './template.ts';

export interface LocalOptions {
  /** Settings as `-c` gives them: `{'rota.capacity': '5'}`. */
  context?: Record<string, string>;
  /** A cloud assembly that is there already; the stack is not synthesized then. */
  assembly?: string;
  /** Which queue to run, where the stack has several. */
  queue?: string;
  /** A Redis that somebody else runs, standalone or cluster; its keys of this queue are removed. Else one is started. */
  redisUrl?: string;
  /** Port of the HTTP API; 0, the default, takes any free one. */
  port?: number;
  /** Port of the Lambda Invoke API; 0, the default, takes any free one. */
  lambdaPort?: number;
  /** Whether schedules fire by time. Without, only `fire` does. Default true. */
  schedules?: boolean;
  /** How often schedules of every minute fire `monitor`, in seconds, so that what it measures is seen sooner. Default 60. */
  monitorSeconds?: number;
  /** Most processes of a function without reserved concurrency. Default 8. */
  mostEnvironments?: number;
  /** How long an environment may stay idle before it is ended, in ms. Default 60,000. */
  idleMs?: number;
  onProgress?: (line: string) => void;
  /** Told about failed functions, dropped events and faults of the template. Default: standard error. */
  onProblem?: (line: string) => void;
  onLog?: (functionName: string, line: string) => void;
}

/** A running copy of the stack. Functions go by their last word (`process`) or whole name. */
export interface Local {
  apiUrl: string;
  /** The page that draws the template's dashboards and alarms. */
  dashboardUrl: string;
  lambdaUrl: string;
  redisUrl: string;
  /** File of the certificate that this Redis shows; undefined for one that somebody else runs. */
  redisCaFile: string | undefined;
  functions: DeclaredFunction[];
  routes: Route[];
  /** Process ids of a function's environments, oldest first. */
  environments(functionName: string): number[];
  /** Ends processes of a function as `kill -9` does, those at work first; returns how many there were to end. */
  kill(functionName: string, count?: number): Promise<number>;
  /** Fires the schedules of a function now. */
  fire(functionName: string): void;
  /** Has each of the next `count` events of a function delivered twice. */
  invokeTwice(functionName: string, count?: number): void;
  /** Event invocations of a function that are neither done nor dropped. */
  pendingEvents(functionName: string): number;
  /** The last lines that one function logged, or all of them, oldest first. */
  logs(functionName?: string): string[];
  /** What the functions and the services have measured. */
  metrics: MetricStore;
  /** The template's alarms, as they stand at that time (now when left out), in ms since the epoch. */
  alarms(nowMs?: number): AlarmState[];
  /** The template's dashboards: what their bodies hold, resolved. */
  dashboards(): Dashboard[];
  /** What functions and services have asked of AWS, each call once, and whether the template's policies allow it. */
  calls(): Promise<DecidedCall[]>;
  /** Ends the runner's own Redis, and with it all that is in it. */
  stopRedis(): Promise<void>;
  /** Starts it again, empty, at the same address. */
  restartRedis(): Promise<void>;
  stop(): Promise<void>;
}

const REGION = 'us-east-1';
const ACCOUNT_ID = '000000000000';
const KEPT_LOG_LINES = 20_000;
const MONITOR_SECONDS = 60;

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Runs the stack on this machine: synthesizes it (or takes an assembly), starts an empty Redis, the functions, the Lambda
 * Invoke API and the HTTP API, and its schedules. Everything ends with `stop`, or with this process.
 *
 * @throws Error that says what is wrong: a taken port, a fault of the settings or the template, no Redis to be had.
 */
export async function startLocal(options: LocalOptions = {}): Promise<Local> {
  const onProgress = options.onProgress ?? (() => undefined);
  // What the end of everything cuts off is no problem to tell of.
  let stopping = false;
  const onProblem = (line: string) => {
    if (!stopping) (options.onProblem ?? console.error)(line);
  };
  const cleanup: (() => Promise<void>)[] = [];
  try {
    if (options.redisUrl) checkRedisUrl(options.redisUrl);
    // Ports first: a second start should fail at once, not after the synth.
    const handlers = Promise.withResolvers<{ api: Handler; invoke: Handler }>();
    handlers.promise.catch(() => undefined);
    const listen = async (port: number, setting: string, which: 'api' | 'invoke'): Promise<LocalServer> => {
      const handle: Handler = async (request, response) => (await handlers.promise)[which](request, response);
      const server = await serve(port, setting, handle, onProblem);
      cleanup.push(() => server.close());
      return server;
    };
    const apiServer = await listen(options.port ?? 0, 'PORT', 'api');
    const invokeServer = await listen(options.lambdaPort ?? 0, 'LAMBDA_PORT', 'invoke');
    const apiUrl = `http://127.0.0.1:${apiServer.port}`;
    const lambdaUrl = `http://127.0.0.1:${invokeServer.port}`;

    let server: RunningRedis | undefined;
    const starting = options.redisUrl
      ? undefined
      : startRedis({ cluster: true, secure: true, onProgress }).then((running) => (server = running));
    cleanup.push(async () => {
      // It may still be on its way up when something else has failed.
      await starting?.catch(() => undefined);
      await server?.stop();
    });
    const [folder] = await Promise.all([options.assembly ?? synthesize(options.context ?? {}, onProgress), starting]);

    const assembly = await readAssembly(folder);
    const { hostname, port } = new URL(options.redisUrl ?? server?.url ?? '');
    const template = new Template(assembly.template, {
      region: REGION,
      accountId: ACCOUNT_ID,
      stackName: assembly.stackName,
      redis: { host: hostname, port: Number(port || 6379) },
    });
    const secrets = new Secrets(template);
    const all = readFunctions(template, assembly);
    const functions = functionsOfQueue(all, options.queue);
    const others = all.filter((declared) => !functions.includes(declared)).map(({ arn }) => arn);
    const isOurs = ({ target }: { target: string }) => !others.includes(target);
    const permissions = new Permissions(template);
    const routes = readRoutes(template).filter(isOurs);
    let redis: QueueRedis;
    if (server) {
      await applyTemplate(server, template, secrets);
      redis = { url: server.url, ...(server.caFile !== undefined && { caFile: server.caFile }), cluster: true };
    } else {
      const queue = queueOf(functions);
      if (!queue) throw new Error('No function of the template has ROTA_QUEUE: which queue to empty is not known');
      redis = await adoptRedis(options.redisUrl ?? '', queue.keyPrefix);
    }

    const metrics = new MetricStore(onProblem);
    const services = new ServiceMetrics(metrics, template);
    const alarms = new Alarms(template, metrics);
    const dashboards = readDashboards(template);
    const named = (name: string) => nameOf(functions, name);
    const logs = new LogStore(KEPT_LOG_LINES);
    logs.listen((_, line) => metrics.record(...parseEmf(line, onProblem)));
    if (options.onLog) logs.listen(options.onLog);
    const reached = functions.map((declared) => ({
      ...declared,
      env: { ...declared.env, ...redisVariables(declared, redis) },
    }));
    const lambda = new LambdaService(reached, {
      permissions,
      mostEnvironments: options.mostEnvironments ?? 8,
      idleMs: options.idleMs ?? 60_000,
      variables: () => ({
        AWS_REGION: REGION,
        AWS_DEFAULT_REGION: REGION,
        AWS_ENDPOINT_URL_LAMBDA: lambdaUrl,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: lambdaUrl,
      }),
      onLog: (name, line) => logs.add(name, line),
      onMetric: services.onLambda,
      onProblem,
    });
    cleanup.push(() => lambda.stop());
    await checkServiceCalls(functions, permissions);
    const monitorSeconds = options.monitorSeconds ?? MONITOR_SECONDS;
    const schedules = readSchedules(template)
      .filter(isOurs)
      .map((schedule) =>
        lambda.find(schedule.target)?.name.endsWith('-monitor')
          ? { ...schedule, next: (now: number) => now + monitorSeconds * 1_000 }
          : schedule,
      );
    const scheduler = new Scheduler(schedules, { lambda, permissions, onProblem });
    cleanup.push(async () => scheduler.stop());
    const queue = queueOf(functions);
    const dashboard =
      queue &&
      dashboardServer({
        queue: queue.name,
        store: metrics,
        alarms,
        dashboards,
        tenants: new Tenants({ lambda, functionName: named('tenants'), store: metrics }),
        monitorSeconds: { here: monitorSeconds, onAws: MONITOR_SECONDS },
      });
    const api = httpApi({
      routes,
      throttle: readThrottle(template, routes[0]?.apiId),
      lambda,
      permissions,
      accountId: ACCOUNT_ID,
      onProblem,
      onRequest: services.onRequest,
    });
    const [invoke, secretsFor] = [invokeApi(lambda), secretsApi(secrets, lambda)];
    handlers.resolve({
      api: (request, response) =>
        dashboard && isDashboard(request) ? dashboard(request, response) : api(request, response),
      invoke: (request, response) => (isSecretsRequest(request) ? secretsFor : invoke)(request, response),
    });
    await warmAll(lambda, onProgress);
    if (options.schedules ?? true) scheduler.start();
    const unwatch = services.watchRedis(redis);
    cleanup.push(async () => unwatch());

    return {
      apiUrl,
      dashboardUrl: `${apiUrl}${DASHBOARD_PATH}`,
      lambdaUrl,
      redisUrl: redis.url,
      redisCaFile: redis.caFile,
      functions,
      routes,
      environments: (name) => lambda.pool(named(name)).environments.flatMap(({ pid }) => pid ?? []),
      kill: async (name, count = 1) => await lambda.pool(named(name)).kill(count),
      fire: (name) => scheduler.fire(named(name)),
      invokeTwice: (name, count = 1) => lambda.queue(named(name)).deliverTwice(count),
      pendingEvents: (name) => lambda.queue(named(name)).pending,
      logs: (name) => logs.lines(name === undefined ? undefined : named(name)),
      metrics,
      alarms: (nowMs) => alarms.evaluate(nowMs),
      dashboards: () => dashboards,
      calls: () => permissions.calls(),
      stopRedis: async () => await server?.stop(),
      restartRedis: async () => {
        await server?.stop();
        server = await startRedis({ cluster: true, secure: true, port: Number(port) });
        await applyTemplate(server, template, secrets);
      },
      stop: async () => {
        stopping = true;
        await undo(cleanup);
      },
    };
  } catch (error) {
    await undo(cleanup);
    throw error;
  }
}

/** Last made, first ended: nothing loses what it stands on. */
async function undo(cleanup: (() => Promise<void>)[]): Promise<void> {
  for (const step of cleanup.splice(0).toReversed()) await step();
}

/** Starts one environment of each function, so that a fault of its init or environment shows now. */
async function warmAll(lambda: LambdaService, onProgress: (line: string) => void): Promise<void> {
  onProgress(`Starting ${lambda.functions.length} functions: ${lambda.functions.map(({ name }) => name).join(', ')}`);
  const failures = await Promise.all(
    lambda.functions.map(async ({ name }) => {
      const initError = await lambda.pool(name).warm();
      return initError ? [`${name} does not start: ${initError.payload}`] : [];
    }),
  );
  if (failures.flat().length > 0) throw new Error(failures.flat().join('\n'));
}

/** What an environment has to know of the Redis here that the template cannot: whom to trust, or where another one is. */
function redisVariables(declared: DeclaredFunction, redis: QueueRedis): Record<string, string> {
  if (declared.env.ROTA_REDIS_URL === undefined) return {};
  if (redis.caFile !== undefined) return { NODE_EXTRA_CA_CERTS: redis.caFile };
  return { ROTA_REDIS_URL: redis.url, ROTA_REDIS_CLUSTER: String(redis.cluster), ROTA_REDIS_AUTH: 'none' };
}
