import { randomUUID } from 'node:crypto';
import type { Environment, InvocationResult } from './environment.ts';
import { EventQueue } from './event-queue.ts';
import type { DeclaredFunction } from './functions.ts';
import type { Permissions } from './permissions.ts';
import { Pool, type PoolEvents } from './pool.ts';

export interface LambdaOptions {
  permissions: Permissions;
  mostEnvironments: number;
  idleMs: number;
  variables: PoolEvents['variables'];
  onLog: PoolEvents['onLog'];
  onMetric: PoolEvents['onMetric'];
  onProblem: (line: string) => void;
}

export interface SyncAnswer {
  requestId: string;
  result: InvocationResult;
  /** Where it ran; undefined when no environment could be started. */
  environment: Environment | undefined;
}

/** The functions of the template as the Lambda service offers them: by name or ARN, called and waited for, or as events. */
export class LambdaService {
  readonly functions: DeclaredFunction[];
  readonly #options: LambdaOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #queues = new Map<string, EventQueue>();

  constructor(functions: DeclaredFunction[], options: LambdaOptions) {
    this.functions = functions;
    this.#options = options;
    for (const declared of functions) {
      const pool = new Pool(declared, { ...options, reservedConcurrency: declared.reservedConcurrency }, options);
      this.#pools.set(declared.name, pool);
      this.#queues.set(
        declared.name,
        new EventQueue(pool, { ...declared.events, onProblem: options.onProblem, onMetric: options.onMetric }),
      );
    }
  }

  /** A function by name, partial ARN or ARN, with or without the qualifier `$LATEST`. */
  find(reference: string): DeclaredFunction | undefined {
    const parts = reference.split(':');
    if (parts.length > 1 && parts.at(-1) === '$LATEST') parts.pop();
    const name = parts.at(-1);
    const found = this.functions.find((declared) => declared.name === name);
    const written = parts.join(':');
    const accepted = [found?.name, found?.arn, found?.arn.split(':').slice(4).join(':'), `function:${found?.name}`];
    return found && accepted.includes(written) ? found : undefined;
  }

  pool(name: string): Pool {
    const pool = this.#pools.get(name);
    if (!pool) throw new Error(`No function is named ${name}; there are ${[...this.#pools.keys()].join(', ')}`);
    return pool;
  }

  queue(name: string): EventQueue {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`No function is named ${name}; there are ${[...this.#queues.keys()].join(', ')}`);
    return queue;
  }

  /** Runs a function and waits for its answer; `undefined` when it is at its reserved concurrency. */
  async invoke(name: string, payload: string): Promise<SyncAnswer | undefined> {
    const requestId = randomUUID();
    const answer = await this.pool(name).invoke({ requestId, payload });
    if (!answer) return undefined;
    const { result, environment } = answer;
    if (result.functionError) this.#options.onProblem(`${name}: request ${requestId} failed: ${result.payload}`);
    return { requestId, result, environment };
  }

  /** The ARN of a function as a call names it; there need not be one. */
  arnOf(reference: string): string {
    const [, , , region, accountId] = this.functions[0]?.arn.split(':') ?? [];
    const arn = `arn:aws:lambda:${region}:${accountId}:function:${reference.split(':').at(-1)}`;
    return this.find(reference)?.arn ?? (reference.startsWith('arn:') ? reference : arn);
  }

  /**
   * Whether a caller may do this, by the access key id that signed the call: an environment's key means its function's role,
   * any other key the developer's own credentials, which may do everything.
   *
   * @returns why not, or undefined.
   */
  async refusal(accessKeyId: string | undefined, action: string, resource: string): Promise<string | undefined> {
    const caller = this.functions.find(({ name }) => accessKeyId && this.pool(name).find(accessKeyId));
    if (!caller) return undefined;
    const call = { caller: caller.role, action, resource, functionArn: caller.arn };
    if (await this.#options.permissions.allowsFunction(call)) return undefined;
    const user = `arn:aws:sts::${caller.arn.split(':')[4]}:assumed-role/${caller.role}/${caller.name}`;
    return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
  }

  /** Stops accepting, drops the queued events and ends every process. */
  async stop(): Promise<void> {
    for (const queue of this.#queues.values()) queue.stop();
    await Promise.all([...this.#pools.values()].map((pool) => pool.stop()));
  }
}
