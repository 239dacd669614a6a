import * as z from 'zod/mini';
import { payloadText } from '../../lib/domain/payload.ts';
import { type Job, PermanentFailure, RetryAfter, retryAfterOf } from './job.ts';
import { signatureHeaders } from './webhook-signature.ts';

const REDIRECTS_MAX = 5;

// A caller that chose the Host would choose the site; the others are the connection's own.
const RESERVED_HEADERS = new Set(['host', 'connection', 'content-length', 'expect', 'transfer-encoding', 'upgrade']);

const headerName = z.string().check(
  z.regex(/^[!#$%&'*+.^_`|~\w-]+$/),
  z.refine((name) => !RESERVED_HEADERS.has(name.toLowerCase())),
);

export const webhookPayload = z
  .strictObject({
    url: z.string(),
    method: z.optional(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
    headers: z.optional(z.record(headerName, z.string().check(z.regex(/^[\t\x20-\x7e]*$/)))),
    body: z.optional(z.unknown()),
  })
  .check(
    z.refine(({ method, body }) => method !== 'GET' || body === undefined, {
      error: 'GET has no body',
      path: ['body'],
    }),
  );

type WebhookPayload = z.output<typeof webhookPayload>;

interface WebhookOptions {
  /** `host` for every port, or `host:port`. */
  readonly allowedHosts: readonly string[];
  /** To sign with; none, and nothing is signed. */
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
}

/** The address, if it is one that may be called. @throws PermanentFailure */
function allowedUrl(text: string, base: URL | undefined, allowedHosts: readonly string[]): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new PermanentFailure('The url is not one of http or https.');
  if (url.username !== '' || url.password !== '') throw new PermanentFailure('The url has a user in it; use a header.');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (!allowedHosts.includes(url.hostname) && !allowedHosts.includes(`${url.hostname}:${port}`)) {
    throw new PermanentFailure(
      `The host ${url.hostname}:${port} is not in the setting webhook.allowedHosts (${allowedHosts.join(', ') || 'empty'}).`,
    );
  }
  return url;
}

/** The body as bytes; none when the job has none. @throws PermanentFailure */
function bodyOf(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined) return undefined;
  const read = payloadText(body);
  if ('fault' in read) throw new PermanentFailure(`The body cannot be sent, expected ${read.fault}.`);
  return Buffer.from(read.text, 'utf8');
}

function requestOf(
  { id, tenant, attempt, traceparent, payload }: Job<WebhookPayload>,
  keys: readonly string[],
): RequestInit {
  const headers = new Headers(payload.headers);
  const request: RequestInit = { method: payload.method ?? 'POST', headers, redirect: 'manual' };
  const body = bodyOf(payload.body);
  if (body !== undefined) {
    request.body = body;
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  }
  // After the caller's own, which cannot pose as these.
  headers.set('rota-job-id', id);
  headers.set('rota-tenant', encodeURIComponent(tenant));
  headers.set('rota-attempt', String(attempt));
  if (keys.length > 0) {
    const signed = signatureHeaders(id, Math.floor(Date.now() / 1000), body ?? new Uint8Array(), keys);
    for (const [name, value] of Object.entries(signed)) headers.set(name, value);
  }
  if (traceparent !== undefined && !headers.has('traceparent')) headers.set('traceparent', traceparent);
  return request;
}

/** Where a redirect leads that keeps method and body; undefined when it would change them. */
const redirectOf = ({ status, headers }: Response, method: string | undefined): string | undefined => {
  const keeps = status === 307 || status === 308 || (method === 'GET' && [301, 302, 303].includes(status));
  return keeps ? (headers.get('location') ?? undefined) : undefined;
};

/** A host that says when to come again is taken at its word. */
function refusalOf({ host }: URL, { status, headers }: Response): Error {
  const message = `${host} answered ${status}`;
  const seconds = status === 429 || status === 503 ? retryAfterOf(headers.get('retry-after'), Date.now()) : null;
  return seconds === null ? new Error(message) : new RetryAfter(seconds, message);
}

/**
 * Sends the request that a webhook job describes, and follows redirects as long as they stay on the allowed hosts.
 *
 * @throws PermanentFailure when a host is not allowed, RetryAfter or another Error when the answer is not 2xx.
 */
export async function callWebhook(
  job: Job<WebhookPayload>,
  { allowedHosts, keys, signal }: WebhookOptions,
): Promise<void> {
  const request = requestOf(job, keys);
  let url = allowedUrl(job.payload.url, undefined, allowedHosts);
  for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
    const response = await fetch(url, { ...request, signal });
    // Unread, it would hold the connection.
    await response.body?.cancel();
    if (response.ok) return;
    const location = redirectOf(response, request.method);
    if (location === undefined) throw refusalOf(url, response);
    url = allowedUrl(location, url, allowedHosts);
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`);
}
