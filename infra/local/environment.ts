import { type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { killGuarded, signalGroup, spawnGuarded } from './children.ts';

/** What an environment runs: one function of the template, with its environment variables resolved. */
export interface FunctionSpec {
  name: string;
  arn: string;
  /** `file.export`, relative to `taskRoot`. */
  handler: string;
  /** The bundle's folder. */
  taskRoot: string;
  runtime: string;
  memoryMb: number;
  timeoutMs: number;
  env: Record<string, string>;
}

export interface Invocation {
  requestId: string;
  /** The event as JSON text. */
  payload: string;
}

/** What a caller gets back: the handler's JSON, or an error object with `functionError` set. */
export interface InvocationResult {
  payload: string;
  functionError?: 'Unhandled';
}

export interface EnvironmentEvents {
  /** Asks for its next invocation (also for its first): free to be given one. */
  onIdle: (environment: Environment) => void;
  /** The process has ended; `initError` is set when it never came to ask for an invocation. */
  onGone: (environment: Environment, initError?: InvocationResult) => void;
  onLog: (functionName: string, line: string) => void;
}

const RUNTIME_CLIENT = fileURLToPath(import.meta.resolve('aws-lambda-ric'));
const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url));
const RUNTIME_PATH = '/2018-06-01/runtime';

// Lambda gives an init 10 s, then runs it once more within the function's own timeout.
const INIT_LIMIT_MS = 10_000;

// 6 MB and what the service adds to it for the reply's frame.
const LARGEST_RESPONSE_BYTES = 6_291_556;

const LOG_TAIL_BYTES = 4_096;

/**
 * One execution environment: a process under AWS's runtime client with a Runtime API server of its own. It takes one
 * invocation at a time and is frozen (SIGSTOP) whenever it has none, as on Lambda: no timer fires, no socket is served.
 */
export class Environment {
  readonly accessKeyId = `ASIA${randomBytes(8).toString('hex').toUpperCase()}`;
  readonly startedAt = performance.now();
  idleSince = 0;
  readonly #spec: FunctionSpec;
  readonly #events: EnvironmentEvents;
  readonly #server: Server;
  readonly #logStream =
    `${new Date().toISOString().slice(0, 10).replaceAll('-', '/')}/[$LATEST]${randomBytes(16).toString('hex')}`;
  #child: ChildProcess | undefined;
  #asking: ServerResponse | undefined;
  #current: { invocation: Invocation; settle(result: InvocationResult): void } | undefined;
  #initError: InvocationResult | undefined;
  #initialised = false;
  #timer: NodeJS.Timeout | undefined;
  #logTail = '';

  constructor(spec: FunctionSpec, events: EnvironmentEvents) {
    this.#spec = spec;
    this.#events = events;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // A handler may run for minutes between two calls on the same connection.
    this.#server.keepAliveTimeout = 0;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The last 4 KB that the current or last invocation logged. */
  get logTail(): string {
    return this.#logTail;
  }

  /** Starts the process. `variables` are added to the function's own (credentials, endpoints). */
  async start(variables: Record<string, string>): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const heapMb = Math.max(64, Math.floor(this.#spec.memoryMb * 0.9));
    const child = spawnGuarded(
      process.execPath,
      [`--max-old-space-size=${heapMb}`, '--require', PRELOAD, RUNTIME_CLIENT, this.#spec.handler],
      { cwd: this.#spec.taskRoot, env: this.#variables(port, variables), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.#log(line));
    }
    child.once('error', (error) => this.#ended(error.message));
    child.once('exit', (code, signal) => this.#ended(signal ? `signal: ${signalWord(signal)}` : `exit status ${code}`));
    this.#timer = setTimeout(() => {
      this.#initError = timedOut('', this.#spec.timeoutMs);
      void this.kill();
    }, INIT_LIMIT_MS + this.#spec.timeoutMs);
  }

  /** Gives the idle environment an invocation. Resolves with the answer; a crash and a timeout are answers too. */
  invoke(invocation: Invocation): Promise<InvocationResult> {
    const asking = this.#asking;
    if (!asking || this.#current) throw new Error(`An environment of ${this.#spec.name} was given work while not idle`);
    this.#asking = undefined;
    this.#logTail = '';
    this.#log(`START RequestId: ${invocation.requestId} Version: $LATEST`);
    const { timeoutMs, arn } = this.#spec;
    return new Promise((resolve) => {
      const startedAt = performance.now();
      const settle = (result: InvocationResult) => {
        clearTimeout(this.#timer);
        this.#current = undefined;
        const ms = (performance.now() - startedAt).toFixed(2);
        this.#log(`END RequestId: ${invocation.requestId}`);
        this.#log(
          `REPORT RequestId: ${invocation.requestId}\tDuration: ${ms} ms\tMemory Size: ${this.#spec.memoryMb} MB`,
        );
        resolve(result);
      };
      this.#current = { invocation, settle };
      this.#timer = setTimeout(() => {
        this.#log(`${invocation.requestId} Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`);
        settle(timedOut(invocation.requestId, timeoutMs));
        void this.kill();
      }, timeoutMs);
      this.#thaw();
      asking.writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': invocation.requestId,
        'lambda-runtime-deadline-ms': String(Date.now() + timeoutMs),
        'lambda-runtime-invoked-function-arn': arn,
        'lambda-runtime-trace-id': `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomBytes(12).toString('hex')};Sampled=0`,
      });
      asking.end(invocation.payload);
    });
  }

  /** Stops the process from running until it is given work. */
  freeze(): void {
    if (this.#child?.pid !== undefined && this.#child.exitCode === null) signalGroup(this.#child.pid, 'SIGSTOP');
  }

  /** Kills the process; an invocation that it holds is answered as a crash. */
  async kill(): Promise<void> {
    if (this.#child) await killGuarded(this.#child);
  }

  #thaw(): void {
    if (this.#child?.pid !== undefined && this.#child.exitCode === null) signalGroup(this.#child.pid, 'SIGCONT');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'GET' && path === `${RUNTIME_PATH}/invocation/next`) {
      clearTimeout(this.#timer);
      this.#initialised = true;
      this.#asking = response;
      this.#events.onIdle(this);
      return;
    }
    const body = await readText(request);
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
    if (path === `${RUNTIME_PATH}/init/error`) {
      this.#initError = { payload: body, functionError: 'Unhandled' };
      return;
    }
    const current = this.#current;
    const [, id, kind] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (!current || decodeURIComponent(id ?? '') !== current.invocation.requestId) return;
    if (kind === 'error') current.settle({ payload: body, functionError: 'Unhandled' });
    else if (Buffer.byteLength(body) > LARGEST_RESPONSE_BYTES) current.settle(responseTooLarge());
    else current.settle({ payload: body });
  }

  #ended(how: string): void {
    if (!this.#server.listening) return;
    clearTimeout(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
    const exit = (requestId: string) =>
      failure('Runtime.ExitError', `RequestId: ${requestId} Error: Runtime exited with error: ${how}`);
    this.#current?.settle(this.#initError ?? exit(this.#current.invocation.requestId));
    this.#events.onGone(this, this.#initialised ? undefined : (this.#initError ?? exit('')));
  }

  #log(line: string): void {
    this.#logTail = `${this.#logTail}${line}\n`.slice(-LOG_TAIL_BYTES);
    this.#events.onLog(this.#spec.name, line);
  }

  /** What Lambda puts into an environment, and nothing of this machine's own: a forgotten variable must fail here too. */
  #variables(runtimeApiPort: number, more: Record<string, string>): Record<string, string> {
    const { name, handler, taskRoot, runtime, memoryMb, env } = this.#spec;
    return {
      LANG: 'en_US.UTF-8',
      PATH: '/usr/local/bin:/usr/bin:/bin',
      TZ: ':UTC',
      AWS_EXECUTION_ENV: `AWS_Lambda_${runtime}`,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: this.#logStream,
      AWS_ACCESS_KEY_ID: this.accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SESSION_TOKEN: 'local',
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${runtimeApiPort}`,
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: handler,
      ...env,
      ...more,
    };
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function failure(errorType: string, errorMessage: string): InvocationResult {
  return { payload: JSON.stringify({ errorType, errorMessage }), functionError: 'Unhandled' };
}

function timedOut(requestId: string, timeoutMs: number): InvocationResult {
  const seconds = (timeoutMs / 1000).toFixed(2);
  return failure('Sandbox.Timedout', `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`);
}

function responseTooLarge(): InvocationResult {
  return failure(
    'Function.ResponseSizeTooLarge',
    `Response payload size exceeded maximum allowed payload size (${LARGEST_RESPONSE_BYTES} bytes).`,
  );
}

function signalWord(signal: string): string {
  return signal === 'SIGKILL' ? 'killed' : signal;
}
