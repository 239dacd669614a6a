import { randomUUID } from 'node:crypto';
import { tenantSegment } from '../lib/domain/ids.ts';
import { PAYLOAD_MAX_BYTES, REQUEST_MAX_BYTES } from '../lib/domain/payload.ts';
import { type CallOptions, type ClientOptions, callsOf, type Request, RotaProblem } from './client-call.ts';
import type { DeadLetterBody } from './dead.ts';
import type { NewJobBody } from './jobs.ts';
import type { HealthBody, QueueBody, QueueChange } from './queue.ts';
import type { ForeseenBody, ReceiptBody, TenantBody } from './tenants.ts';
import type { WaitingJobBody } from './waiting-jobs.ts';

export { type ClientAuth, type ClientOptions, RotaProblem } from './client-call.ts';

const JOBS_MAX = 500;

export interface EnqueueRequest extends CallOptions {
  /** May be left out with a token that names its tenant, or where the payloads do. */
  readonly tenant?: string;
  /** Any number of jobs: they go in parts of at most 500 and 1 MiB, each all or none, in order. */
  readonly jobs: readonly NewJobBody[];
  /** Names the request for whoever sends it again; made up if not given, so that the client's own retries admit nothing twice. */
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
}

interface Page extends CallOptions {
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

type Next = { readonly next: string | null };

/** Jobs as bodies of requests: each part within the limits. @throws RangeError naming the first job that is too large for any. */
function* parts(tenant: string | undefined, jobs: readonly NewJobBody[]): Generator<NewJobBody[]> {
  const envelope = Buffer.byteLength(JSON.stringify({ tenant, jobs: [] }));
  let part: NewJobBody[] = [];
  let bytes = envelope;
  for (const [index, job] of jobs.entries()) {
    const payload = Buffer.byteLength(JSON.stringify(job.payload) ?? '');
    if (payload > PAYLOAD_MAX_BYTES) {
      throw new RangeError(`jobs[${index}].payload has ${payload} bytes, expected at most ${PAYLOAD_MAX_BYTES}`);
    }
    const size = Buffer.byteLength(JSON.stringify(job)) + 1;
    if (part.length === JOBS_MAX || (part.length > 0 && bytes + size > REQUEST_MAX_BYTES)) {
      yield part;
      [part, bytes] = [[], envelope];
    }
    part.push(job);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

const ofTenant = (tenant: string, rest = '') => `/v1/tenants/${tenantSegment(tenant)}${rest}`;

/** @throws RangeError for what is no id of a job: in a path it could name something else. */
function letter(job: string | undefined): string {
  if (job === undefined) return '';
  if (!/^\d{1,3}-[0-9a-f]{24}$/.test(job))
    throw new RangeError(`given ${JSON.stringify(job)}, expected the id of a job`);
  return `/${job}`;
}

/**
 * A client of the HTTP API for Node: typed by the contract, without a dependency. Calls are signed, a `Retry-After` is waited
 * for, with jitter, and what may pass is tried again, up to `maxWaitMs`.
 *
 * Every method throws RotaProblem for what the API refuses.
 */
export function createClient(options: ClientOptions) {
  const call = callsOf(options);
  const json = async <Body>(request: Request): Promise<Body> => {
    const { text } = await call(request);
    // The API answers as its contract says, which tests hold it to.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as Body;
  };

  return {
    /** Enqueues jobs; resolves with their ids, in order, when all are admitted. @throws RangeError when a job is too large for any request. */
    async enqueue({
      tenant,
      jobs,
      idempotencyKey = randomUUID(),
      traceparent,
      signal,
    }: EnqueueRequest): Promise<{ ids: string[]; depth: number }> {
      const ids: string[] = [];
      let depth = 0;
      for (const [number, part] of [...parts(tenant, jobs)].entries()) {
        const key = number === 0 ? idempotencyKey : `${idempotencyKey}:${number}`;
        const accepted = await json<{ jobs: { id: string }[]; depth: number }>({
          method: 'POST',
          path: '/v1/jobs',
          body: { tenant, jobs: part },
          headers: { 'idempotency-key': key, ...(traceparent !== undefined && { traceparent }) },
          signal,
        }).catch((error: unknown) => {
          if (!(error instanceof RotaProblem)) throw error;
          throw new RotaProblem(error.status, error.document, error.retryAfterSeconds, ids);
        });
        ids.push(...accepted.jobs.map(({ id }) => id));
        ({ depth } = accepted);
      }
      return { ids, depth };
    },

    health: (given: CallOptions = {}) => json<HealthBody>({ method: 'GET', path: '/v1/health', ...given }),

    listTenants: ({ signal, ...query }: Page & { readonly sort?: 'depth' | 'oldest' } = {}) =>
      json<{ tenants: TenantBody[] } & Next>({ method: 'GET', path: '/v1/tenants', query, signal }),

    getTenant: (tenant: string, given: CallOptions = {}) =>
      json<TenantBody>({ method: 'GET', path: ofTenant(tenant), ...given }),

    /** Replaces the subscription record; with `ifMatch`, only the one that carries this ETag. */
    putTenant: (
      tenant: string,
      record: TenantBody['record'],
      { ifMatch, signal }: CallOptions & { readonly ifMatch?: string } = {},
    ) =>
      json<TenantBody>({
        method: 'PUT',
        path: ofTenant(tenant),
        body: record,
        headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
        signal,
      }),

    /** What a subscription record would do, and to whom; changes nothing. */
    foreseeTenant: (tenant: string, record: TenantBody['record'], { signal }: CallOptions = {}) =>
      json<ForeseenBody>({ method: 'PUT', path: ofTenant(tenant), query: { dryRun: 'true' }, body: record, signal }),

    /** The ETag of the subscription record. */
    async etagOf(tenant: string, given: CallOptions = {}): Promise<string> {
      return (await call({ method: 'GET', path: ofTenant(tenant), ...given })).etag ?? '';
    },

    pauseTenant: (tenant: string, given: CallOptions = {}) =>
      json<TenantBody>({ method: 'POST', path: ofTenant(tenant, '/pause'), ...given }),

    resumeTenant: (tenant: string, given: CallOptions = {}) =>
      json<TenantBody>({ method: 'POST', path: ofTenant(tenant, '/resume'), ...given }),

    deleteTenant: (tenant: string, given: CallOptions = {}) =>
      json<ReceiptBody>({ method: 'DELETE', path: ofTenant(tenant), ...given }),

    deleteTenantJobs: (tenant: string, given: CallOptions = {}) =>
      json<ReceiptBody>({ method: 'DELETE', path: ofTenant(tenant, '/jobs'), ...given }),

    listTenantJobs: (tenant: string, { signal, ...query }: Page & { readonly state?: 'ready' | 'delayed' } = {}) =>
      json<{ jobs: WaitingJobBody[] } & Next>({ method: 'GET', path: ofTenant(tenant, '/jobs'), query, signal }),

    listDead: (tenant: string, { signal, ...query }: Page = {}) =>
      json<{ dead: DeadLetterBody[] } & Next>({ method: 'GET', path: ofTenant(tenant, '/dead'), query, signal }),

    /** Drops a dead letter, or all of the tenant. */
    dropDead: (tenant: string, job?: string, given: CallOptions = {}) =>
      json<{ dropped: number }>({
        method: 'DELETE',
        path: ofTenant(tenant, `/dead${letter(job)}`),
        ...given,
      }),

    /** Runs a dead letter again, or all of the tenant that its caps have room for. */
    redriveDead: (tenant: string, job?: string, given: CallOptions = {}) =>
      json<{ redriven: number; remaining: number }>({
        method: 'POST',
        path: ofTenant(tenant, `/dead${letter(job)}/redrive`),
        ...given,
      }),

    getQueue: (given: CallOptions = {}) => json<QueueBody>({ method: 'GET', path: '/v1/queue', ...given }),

    putQueue: (change: QueueChange, given: CallOptions = {}) =>
      json<QueueBody>({ method: 'PUT', path: '/v1/queue', body: change, ...given }),

    deleteQueueJobs: (given: CallOptions = {}) =>
      json<{ removed: { ready: number; delayed: number }; remaining: number }>({
        method: 'DELETE',
        path: '/v1/queue/jobs',
        ...given,
      }),

    /** OpenMetrics text. */
    getMetrics: async (given: CallOptions = {}): Promise<string> =>
      (await call({ method: 'GET', path: '/v1/metrics', ...given })).text,
  };
}
