import { availableParallelism } from 'node:os';
import type { LambdaMetric, OnLambdaMetric } from './metrics/service-metrics.ts';
import { Environment, type FunctionSpec, type Invocation, type InvocationResult } from './environment.ts';

/** What a pool tells the runner. */
export interface PoolEvents {
  onLog: (functionName: string, line: string) => void;
  onMetric: OnLambdaMetric;
  /** Variables that every environment gets beside its own. */
  variables: (functionName: string) => Record<string, string>;
}

export interface PoolLimits {
  /** Most invocations at once before the service refuses (reserved concurrency), or undefined. */
  reservedConcurrency: number | undefined;
  /**
   * Most processes for a function without reserved concurrency. An account would give it hundreds; this machine makes
   * further invocations wait for one of these instead.
   */
  mostEnvironments: number;
  /** How long an environment may stay idle before its process is ended, in ms. */
  idleMs: number;
}

interface Waiting {
  invocation: Invocation;
  resolve(outcome: { result: InvocationResult; environment: Environment | undefined }): void;
}

const REAP_EVERY_MS = 1_000;

/** Cold starts at once, over all pools: more of them only make each one slower. */
const startGate = { free: Math.max(2, availableParallelism()), queue: [] as (() => void)[] };

/** The environments of one function: starts one for an invocation that finds none idle, reuses, replaces, reaps them. */
export class Pool {
  readonly spec: FunctionSpec;
  readonly #limits: PoolLimits;
  readonly #events: PoolEvents;
  readonly #idle: Environment[] = [];
  readonly #all = new Set<Environment>();
  readonly #waiting: Waiting[] = [];
  readonly #initialising = new Set<Environment>();
  readonly #reaper: NodeJS.Timeout;
  readonly #warming = new Map<Environment, (initError: InvocationResult | undefined) => void>();
  #active = 0;
  /** Starts that wait for the gate. */
  #queued = 0;
  #stopped = false;

  constructor(spec: FunctionSpec, limits: PoolLimits, events: PoolEvents) {
    this.spec = spec;
    this.#limits = limits;
    this.#events = events;
    this.#reaper = setInterval(() => this.#reap(), REAP_EVERY_MS);
    this.#reaper.unref();
  }

  /** Processes in the order they were started. */
  get environments(): Environment[] {
    return [...this.#all];
  }

  /**
   * Runs one invocation, and also gives back the environment that ran it. `undefined` means that the function is at its
   * reserved concurrency: nothing was started.
   */
  invoke(
    invocation: Invocation,
  ): Promise<{ result: InvocationResult; environment: Environment | undefined }> | undefined {
    const { reservedConcurrency } = this.#limits;
    const throttled = reservedConcurrency !== undefined && this.#active >= reservedConcurrency;
    this.#count('Throttles', Number(throttled));
    if (throttled) return undefined;
    if (this.#stopped) return Promise.resolve({ result: stoppedResult(), environment: undefined });
    this.#active++;
    this.#count('ConcurrentExecutions', this.#active);
    const answer = new Promise<{ result: InvocationResult; environment: Environment | undefined }>((resolve) => {
      this.#waiting.push({ invocation, resolve });
    });
    this.#hand();
    return answer.finally(() => this.#active--);
  }

  /** Starts one environment ahead of any invocation. Resolves with what its init failed with, or undefined. */
  warm(): Promise<InvocationResult | undefined> {
    return new Promise((resolve) => this.#warming.set(this.#create(), resolve));
  }

  /** The environment that has these credentials, or undefined. */
  find(accessKeyId: string): Environment | undefined {
    return this.environments.find((environment) => environment.accessKeyId === accessKeyId);
  }

  /** Ends up to `count` processes as `kill -9` does, those at work first; returns how many. */
  async kill(count: number): Promise<number> {
    const atWorkFirst = this.environments.toSorted(
      (a, b) => Number(this.#idle.includes(a)) - Number(this.#idle.includes(b)),
    );
    const chosen = atWorkFirst.slice(0, count);
    await Promise.all(chosen.map((environment) => environment.kill()));
    return chosen.length;
  }

  /** Ends all processes; invocations under way are answered as crashes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#reaper);
    // Nothing waits in a pool that has stopped, and so nothing is started in it.
    for (const next of this.#waiting.splice(0)) next.resolve({ result: stoppedResult(), environment: undefined });
    await Promise.all(this.environments.map((environment) => environment.kill()));
  }

  #hand(): void {
    while (this.#waiting.length > 0) {
      // The most recently used first, as Lambda does, so that a surplus grows old and is reaped.
      const environment = this.#idle.pop();
      if (!environment) break;
      const next = this.#waiting.shift();
      if (next) void this.#run(environment, next);
    }
    const most = this.#limits.reservedConcurrency ?? this.#limits.mostEnvironments;
    const coming = () => this.#queued + this.#initialising.size;
    while (coming() < this.#waiting.length && this.#all.size + this.#queued < most) this.#startOne();
  }

  async #run(environment: Environment, next: Waiting): Promise<void> {
    const startedAt = performance.now();
    const result = await environment.invoke(next.invocation);
    this.#count('Duration', performance.now() - startedAt);
    this.#countInvocation(result);
    next.resolve({ result, environment });
  }

  #count(metric: LambdaMetric, value: number): void {
    this.#events.onMetric(this.spec.name, metric, value);
  }

  #countInvocation({ functionError }: InvocationResult): void {
    this.#count('Invocations', 1);
    this.#count('Errors', Number(functionError !== undefined));
  }

  #startOne(): void {
    this.#queued++;
    const start = () => {
      this.#queued--;
      if (this.#waiting.length === 0) {
        // An environment became idle while this start waited its turn, or the pool has stopped.
        releaseStart();
        return;
      }
      this.#create();
    };
    if (startGate.free > 0) {
      startGate.free--;
      start();
    } else {
      startGate.queue.push(start);
    }
  }

  #create(): Environment {
    const environment = new Environment(this.spec, {
      onIdle: (idle) => this.#onIdle(idle),
      onGone: (gone, initError) => this.#onGone(gone, initError),
      onLog: (name, line) => this.#events.onLog(name, line),
    });
    this.#all.add(environment);
    this.#initialising.add(environment);
    void environment.start(this.#events.variables(this.spec.name));
    return environment;
  }

  #onIdle(environment: Environment): void {
    this.#initialised(environment);
    this.#warming.get(environment)?.(undefined);
    this.#warming.delete(environment);
    environment.idleSince = performance.now();
    this.#idle.push(environment);
    this.#hand();
    if (this.#idle.includes(environment)) environment.freeze();
  }

  #onGone(environment: Environment, initError: InvocationResult | undefined): void {
    this.#initialised(environment);
    const warmed = this.#warming.get(environment);
    this.#warming.delete(environment);
    this.#all.delete(environment);
    const index = this.#idle.indexOf(environment);
    if (index >= 0) this.#idle.splice(index, 1);
    if (warmed) warmed(initError);
    else if (initError) this.#failNext(initError);
    this.#hand();
  }

  #failNext(initError: InvocationResult): void {
    const next = this.#waiting.shift();
    if (!next) return;
    this.#countInvocation(initError);
    next.resolve({ result: initError, environment: undefined });
  }

  /** Frees the place in the gate that a start held; one that only warms never had a place. */
  #initialised(environment: Environment): void {
    if (this.#initialising.delete(environment) && !this.#warming.has(environment)) releaseStart();
  }

  #reap(): void {
    const longAgo = performance.now() - this.#limits.idleMs;
    for (const environment of this.#idle.filter(({ idleSince }) => idleSince < longAgo)) {
      this.#idle.splice(this.#idle.indexOf(environment), 1);
      void environment.kill();
    }
  }
}

function stoppedResult(): InvocationResult {
  const error = { errorType: 'Runtime.ExitError', errorMessage: 'The local runner is stopping' };
  return { payload: JSON.stringify(error), functionError: 'Unhandled' };
}

function releaseStart(): void {
  const next = startGate.queue.shift();
  if (next) next();
  else startGate.free++;
}
