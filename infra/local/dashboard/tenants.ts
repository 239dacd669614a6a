import { NAMESPACE, OTHER, TENANT_DIMENSION, tenantMetrics } from '../../../functions/lib/telemetry/metric-names.ts';
import type { LambdaService } from '../lambda-service.ts';
import type { MetricStore } from '../metrics/store.ts';
import { isObject, textOf } from '../template.ts';
import { tenantOf } from './labels.ts';
import type { TenantRow, TenantsView } from './view.ts';

/** A share that old is no longer shown: monitor leaves out a tenant that has nothing left. */
const FRESH_MS = 150_000;

/** How long an answer of the function serves every page that asks. */
const KEPT_MS = 4_000;

const MOST_ROWS = 20;

type Known = Pick<TenantRow, 'plan' | 'weight' | 'depth' | 'inFlight' | 'oldestAgeSeconds' | 'because'>;

const UNKNOWN: Known = { plan: null, weight: null, depth: null, inFlight: null, oldestAgeSeconds: null, because: null };

/**
 * The tenants as a page shows them: who waits, by the function that serves the API's list, and the shares that monitor
 * emitted. The function is invoked without the gateway, so that a page leaves no trace in the API's own metrics.
 */
export class Tenants {
  readonly #lambda: LambdaService;
  readonly #functionName: string;
  readonly #store: MetricStore;
  #asked: { atMs: number; answer: Promise<Map<string, Known> | string> } | undefined;

  constructor(options: { lambda: LambdaService; functionName: string; store: MetricStore }) {
    this.#lambda = options.lambda;
    this.#functionName = options.functionName;
    this.#store = options.store;
  }

  async view(nowMs: number): Promise<TenantsView> {
    const answer = await this.#ask(nowMs);
    const known = typeof answer === 'string' ? new Map<string, Known>() : answer;
    const shares = this.#shares(nowMs);
    const tenants = new Set([...known.keys(), ...[...shares.keys()].filter((tenant) => tenant !== null)]);
    const rows = [...tenants].map((tenant): TenantRow => {
      const share = shares.get(tenant) ?? { realised: null, entitled: null };
      return { tenant, other: false, ...(known.get(tenant) ?? UNKNOWN), ...share };
    });
    rows.sort((a, b) => (b.entitled ?? 0) - (a.entitled ?? 0) || (b.depth ?? 0) - (a.depth ?? 0));
    const rest = shares.get(null);
    const others = rest ? [{ tenant: OTHER, other: true, ...UNKNOWN, ...rest }] : [];
    return { rows: [...rows.slice(0, MOST_ROWS), ...others], trouble: typeof answer === 'string' ? answer : null };
  }

  /** The newest shares by tenant; under null, those of all others together. */
  #shares(nowMs: number): Map<string | null, Pick<TenantRow, 'realised' | 'entitled'>> {
    const shares = new Map<string | null, Pick<TenantRow, 'realised' | 'entitled'>>();
    for (const id of this.#store.metrics()) {
      const { [TENANT_DIMENSION]: label } = id.dimensions;
      if (id.namespace !== NAMESPACE || label === undefined) continue;
      if (id.name !== tenantMetrics.realisedShare.name && id.name !== tenantMetrics.entitledShare.name) continue;
      const newest = this.#store.newest(id, nowMs - FRESH_MS);
      if (newest === undefined) continue;
      const tenant = tenantOf(label);
      const which = id.name === tenantMetrics.realisedShare.name ? 'realised' : 'entitled';
      shares.set(tenant, { realised: null, entitled: null, ...shares.get(tenant), [which]: newest });
    }
    return shares;
  }

  #ask(nowMs: number): Promise<Map<string, Known> | string> {
    if (!this.#asked || nowMs - this.#asked.atMs > KEPT_MS) this.#asked = { atMs: nowMs, answer: this.#list() };
    return this.#asked.answer;
  }

  async #list(): Promise<Map<string, Known> | string> {
    const answer = await this.#lambda.invoke(this.#functionName, JSON.stringify(listEvent()));
    if (!answer) return 'The function that lists tenants is busy.';
    if (answer.result.functionError) return 'The function that lists tenants failed; its log says why.';
    const response: unknown = JSON.parse(answer.result.payload);
    const status = isObject(response) ? response.statusCode : undefined;
    if (!isObject(response) || status !== 200) return `Listing the tenants was answered with ${textOf(status)}.`;
    const body: unknown = JSON.parse(textOf(response.body));
    const list: unknown[] = isObject(body) && Array.isArray(body.tenants) ? body.tenants : [];
    return new Map(list.filter(isObject).map((tenant) => [textOf(tenant.tenant), knownOf(tenant)]));
  }
}

function knownOf({ plan, weight, depth, inFlight, oldestAgeSeconds, waiting }: Record<string, unknown>): Known {
  return {
    plan: textOf(plan) || null,
    weight: Number(weight),
    depth: Number(depth),
    inFlight: Number(inFlight),
    oldestAgeSeconds: typeof oldestAgeSeconds === 'number' ? oldestAgeSeconds : null,
    because: isObject(waiting) ? textOf(waiting.because) : null,
  };
}

function listEvent(): object {
  const queryStringParameters = { sort: 'depth', limit: String(MOST_ROWS) };
  return {
    version: '2.0',
    routeKey: 'GET /v1/tenants',
    rawPath: '/v1/tenants',
    rawQueryString: new URLSearchParams(queryStringParameters).toString(),
    headers: {},
    queryStringParameters,
    requestContext: {
      http: { method: 'GET', path: '/v1/tenants' },
      requestId: 'dashboard',
      routeKey: 'GET /v1/tenants',
    },
    isBase64Encoded: false,
  };
}
