import { setTimeout as delay } from 'node:timers/promises';
import { type Credentials, signedHeaders } from '../lib/queue/sigv4.ts';

type Given<T> = T | (() => T | Promise<T>);

/** How the client shows who it is. Credentials and tokens are asked for at every request where they are given as functions. */
export type ClientAuth =
  | { readonly sigv4: { readonly region: string; readonly credentials: Given<Credentials> } }
  | { readonly bearer: Given<string> };

export interface ClientOptions {
  /** Of the API, as the stack puts it out. */
  readonly url: string;
  /** None for the API on this machine. */
  readonly auth?: ClientAuth;
  /** How long a call may take with all that it waits and tries again, in ms; 30,000 if not given, 0 tries once. */
  readonly maxWaitMs?: number;
  /** Another `fetch`, such as one behind a proxy. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Request extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem document (RFC 9457), or what the gateway answers in its place. */
interface ProblemDocument {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  /** Of the gateway's own. */
  readonly message?: string;
  readonly requestId?: string;
  readonly [member: string]: unknown;
}

/** A call that was refused. */
export class RotaProblem extends Error {
  override readonly name = 'RotaProblem';
  readonly status: number;
  /** The end of the problem's type, such as `tenant_full`; `http_<status>` for what the gateway itself answers. */
  readonly code: string;
  readonly document: ProblemDocument;
  readonly retryAfterSeconds: number | null;
  /** Of an enqueue in several parts: the ids of those that were admitted before this one was refused. */
  readonly admitted: readonly string[];

  constructor(
    status: number,
    document: ProblemDocument,
    retryAfterSeconds: number | null,
    admitted: readonly string[] = [],
  ) {
    super(document.detail ?? document.message ?? `answered ${status}`);
    this.status = status;
    this.code = document.type?.split(':').at(-1) ?? `http_${status}`;
    this.document = document;
    this.retryAfterSeconds = retryAfterSeconds;
    this.admitted = admitted;
  }
}

const MAX_WAIT_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** So much longer than asked at most, so that callers which were refused together do not come back together. */
const JITTER = 0.25;

const isDocument = (value: unknown): value is ProblemDocument => typeof value === 'object' && value !== null;

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const resolved = async <T extends string | object>(given: Given<T>): Promise<T> =>
  typeof given === 'function' ? await given() : given;

async function authorized(
  auth: ClientAuth | undefined,
  request: { method: string; url: URL; headers: Record<string, string>; body: string },
) {
  if (auth === undefined) return request.headers;
  if ('bearer' in auth) return { ...request.headers, authorization: `Bearer ${await resolved(auth.bearer)}` };
  const { region, credentials } = auth.sigv4;
  const signed = {
    ...request,
    region,
    service: 'execute-api',
    at: new Date(),
    credentials: await resolved(credentials),
  };
  return signedHeaders(signed);
}

/** Whether the same again may go well: the queue was full, away, or nobody knows what came of the request. */
const isPassing = (status: number, code: string) =>
  (status === 429 && code !== 'batch_exceeds_limit') || status === 503 || status === 502 || status === 504;

/** Makes the calls of a client: signs them, and tries again what may pass, for so long. */
export function callsOf({ url, auth, maxWaitMs = MAX_WAIT_MS, fetch: send = fetch }: ClientOptions) {
  const base = url.replace(/\/+$/, '');

  async function once({ method, path, query = {}, body, headers = {}, signal }: Request): Promise<Response> {
    const target = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) target.searchParams.set(name, String(value));
    const text = body === undefined ? '' : JSON.stringify(body);
    const given = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
    const signed = await authorized(auth, { method, url: target, headers: given, body: text });
    return await send(target, {
      method,
      headers: signed,
      ...(body !== undefined && { body: text }),
      ...(signal && { signal }),
    });
  }

  /** @throws RotaProblem when it is refused for good, or for longer than the client waits; what `fetch` throws when nobody answers. */
  return async function call(request: Request): Promise<{ status: number; text: string; etag: string | null }> {
    const untilMs = performance.now() + maxWaitMs;
    for (let attempt = 0; ; attempt++) {
      const pauseMs = Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      const answer = await once(request).catch((error: unknown) => {
        if (request.signal?.aborted === true || performance.now() + pauseMs > untilMs) throw error;
        return undefined;
      });
      let waitMs = pauseMs;
      if (answer) {
        const text = await answer.text();
        if (answer.ok) return { status: answer.status, text, etag: answer.headers.get('etag') };
        const problem = problemOf(answer, text);
        const { retryAfterSeconds } = problem;
        if (retryAfterSeconds !== null) waitMs = retryAfterSeconds * 1_000 * (1 + Math.random() * JITTER);
        if (!isPassing(problem.status, problem.code) || performance.now() + waitMs > untilMs) throw problem;
      }
      await delay(waitMs, undefined, request.signal ? { signal: request.signal } : {});
    }
  };
}

function problemOf({ status, headers }: Response, text: string): RotaProblem {
  const document = readJson(text);
  const given = headers.get('retry-after');
  const seconds = given === null || !/^\d+$/.test(given) ? null : Number(given);
  return new RotaProblem(status, isDocument(document) ? document : {}, seconds);
}
