import * as z from 'zod/mini';
import { payloadText } from '../../lib/domain/payload.ts';
import { type Job, PermanentFailure } from './job.ts';

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

function requestOf({ id, tenant, attempt, traceparent, payload }: Job<WebhookPayload>): RequestInit {
  const headers = new Headers(payload.headers);
  const request: RequestInit = { method: payload.method ?? 'POST', headers, redirect: 'manual' };
  if (payload.body !== undefined) {
    const body = payloadText(payload.body);
    if ('fault' in body) throw new PermanentFailure(`The body cannot be sent, expected ${body.fault}.`);
    request.body = Buffer.from(body.text, 'utf8');
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  }
  // After the caller's own, which cannot pose as these.
  headers.set('rota-job-id', id);
  headers.set('rota-tenant', encodeURIComponent(tenant));
  headers.set('rota-attempt', String(attempt));
  if (traceparent !== undefined && !headers.has('traceparent')) headers.set('traceparent', traceparent);
  return request;
}

/** Where a redirect leads that keeps method and body; undefined when it would change them. */
const redirectOf = ({ status, headers }: Response, method: string | undefined): string | undefined => {
  const keeps = status === 307 || status === 308 || (method === 'GET' && [301, 302, 303].includes(status));
  return keeps ? (headers.get('location') ?? undefined) : undefined;
};

/**
 * Sends the request that a webhook job describes, and follows redirects as long as they stay on the allowed hosts.
 *
 * @throws PermanentFailure when a host is not allowed, Error when the answer is not 2xx.
 */
export async function callWebhook(job: Job<WebhookPayload>, { allowedHosts, signal }: WebhookOptions): Promise<void> {
  const request = requestOf(job);
  let url = allowedUrl(job.payload.url, undefined, allowedHosts);
  for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
    const response = await fetch(url, { ...request, signal });
    // Unread, it would hold the connection.
    await response.body?.cancel();
    if (response.ok) return;
    const location = redirectOf(response, request.method);
    if (location === undefined) throw new Error(`${url.host} answered ${response.status}`);
    url = allowedUrl(location, url, allowedHosts);
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`);
}
