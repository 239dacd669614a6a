import { isTenantId, tenantSegment } from '../../../functions/lib/domain/ids.ts';
import { NAMESPACE, OTHER, TENANT_DIMENSION, tenantMetrics } from '../../../functions/lib/telemetry/metric-names.ts';
import type { LambdaService } from '../lambda-service.ts';
import type { MetricStore } from '../metrics/store.ts';
import { isObject, type JsonObject, textOf } from '../template.ts';
import { tenantOf } from './labels.ts';
import type { TenantRow, TenantsView } from './view.ts';

/** A share that old is no longer shown: monitor leaves out a tenant that has nothing left. */
const FRESH_MS = 150_000;

/** How long an answer of the function serves every page that asks. */
const KEPT_MS = 4_000;

const MOST_ROWS = 20;
const MOST_REMEMBERED = 1_000;
/** Strangers that one look asks about. */
const MOST_MET = 3;

const LIST_QUERY = { sort: 'depth', limit: String(MOST_ROWS) };

/** A part of the service that is shown as 0.0 % is not worth a row. */
const LEAST_SHARE = 0.0005;

type Known = Pick<TenantRow, 'plan' | 'weight' | 'depth' | 'inFlight' | 'oldestAgeSeconds' | 'because'>;

const UNKNOWN: Known = { plan: null, weight: null, depth: null, inFlight: null, oldestAgeSeconds: null, because: null };

type Told = Pick<TenantRow, 'realised' | 'entitled' | 'depth' | 'inFlight'>;

const NOTHING_TOLD: Told = { realised: null, entitled: null, depth: null, inFlight: null };

/** Where the metrics of a tenant stand in its row. */
const FIELDS: Record<string, keyof Told> = {
  [tenantMetrics.realisedShare.name]: 'realised',
  [tenantMetrics.entitledShare.name]: 'entitled',
  [tenantMetrics.depth.name]: 'depth',
  [tenantMetrics.inFlight.name]: 'inFlight',
};

/**
 * The tenants as a page shows them: who waits, by the function that serves the API's list, and the shares that monitor
 * emitted. The function is invoked without the gateway, so that a page leaves no trace in the API's own metrics.
 */
export class Tenants {
  readonly #lambda: LambdaService;
  readonly #functionName: string;
  readonly #store: MetricStore;
  /** Plan and weight of those that were listed before: who has nothing waiting is not listed. */
  readonly #subscriptions = new Map<string, Pick<Known, 'plan' | 'weight'>>();
  #asked: { atMs: number; answer: Promise<Map<string, Known> | string> } | undefined;

  constructor(options: { lambda: LambdaService; functionName: string; store: MetricStore }) {
    this.#lambda = options.lambda;
    this.#functionName = options.functionName;
    this.#store = options.store;
  }

  async view(nowMs: number): Promise<TenantsView> {
    const answer = await this.#ask(nowMs);
    const known = typeof answer === 'string' ? new Map<string, Known>() : answer;
    const told = this.#told(nowMs);
    const tenants = new Set([...known.keys(), ...[...told.keys()].filter((tenant) => tenant !== null)]);
    await this.#meet([...tenants]);
    const rows = [...tenants].map((tenant): TenantRow => {
      const { realised, entitled, ...counts } = told.get(tenant) ?? NOTHING_TOLD;
      const rest = { ...UNKNOWN, ...this.#subscriptions.get(tenant), ...counts };
      return { tenant, other: false, ...(known.get(tenant) ?? rest), realised, entitled };
    });
    rows.sort((a, b) => (b.entitled ?? 0) - (a.entitled ?? 0) || (b.depth ?? 0) - (a.depth ?? 0));
    const others = told.get(null);
    const isSomebody = others !== undefined && Math.max(others.realised ?? 0, others.entitled ?? 0) >= LEAST_SHARE;
    const last = isSomebody ? [{ tenant: OTHER, other: true, ...UNKNOWN, ...others }] : [];
    return { rows: [...rows.slice(0, MOST_ROWS), ...last], trouble: typeof answer === 'string' ? answer : null };
  }

  /** What monitor said last, by tenant; under null, of all others together. */
  #told(nowMs: number): Map<string | null, Told> {
    const told = new Map<string | null, Told>();
    for (const id of this.#store.metrics()) {
      const { [TENANT_DIMENSION]: label } = id.dimensions;
      const field = FIELDS[id.name];
      if (id.namespace !== NAMESPACE || label === undefined || field === undefined) continue;
      const newest = this.#store.newest(id, nowMs - FRESH_MS);
      if (newest === undefined) continue;
      const tenant = tenantOf(label);
      told.set(tenant, { ...NOTHING_TOLD, ...told.get(tenant), [field]: newest });
    }
    return told;
  }

  #ask(nowMs: number): Promise<Map<string, Known> | string> {
    if (!this.#asked || nowMs - this.#asked.atMs > KEPT_MS) this.#asked = { atMs: nowMs, answer: this.#list() };
    return this.#asked.answer;
  }

  async #list(): Promise<Map<string, Known> | string> {
    const body = await this.#get('/v1/tenants', '/v1/tenants', { queryStringParameters: LIST_QUERY });
    if (typeof body === 'string') return body;
    const list: unknown[] = Array.isArray(body.tenants) ? body.tenants : [];
    const known = new Map(list.filter(isObject).map((tenant) => [textOf(tenant.tenant), knownOf(tenant)]));
    // Bounded by forgetting everybody now and then.
    if (this.#subscriptions.size > MOST_REMEMBERED) this.#subscriptions.clear();
    for (const [tenant, { plan, weight }] of known) this.#subscriptions.set(tenant, { plan, weight });
    return known;
  }

  /** Asks for plan and weight of some that are not listed, since they have nothing waiting. */
  async #meet(tenants: readonly string[]): Promise<void> {
    const strangers = tenants.filter((tenant) => !this.#subscriptions.has(tenant)).slice(0, MOST_MET);
    for (const tenant of strangers) {
      if (!isTenantId(tenant)) continue;
      const segment = tenantSegment(tenant);
      const pathParameters = { tenant: segment };
      const body = await this.#get('/v1/tenants/{tenant}', `/v1/tenants/${segment}`, { pathParameters });
      if (typeof body !== 'string') this.#subscriptions.set(tenant, knownOf(body));
    }
  }

  /** A GET of the contract, past the gateway; what is wrong, in a sentence, when it is not answered with 200. */
  async #get(route: string, path: string, more: Record<string, Record<string, string>>): Promise<JsonObject | string> {
    const event = {
      version: '2.0',
      routeKey: `GET ${route}`,
      rawPath: path,
      rawQueryString: new URLSearchParams(more.queryStringParameters ?? {}).toString(),
      headers: {},
      ...more,
      requestContext: { http: { method: 'GET', path }, requestId: 'dashboard', routeKey: `GET ${route}` },
      isBase64Encoded: false,
    };
    const answer = await this.#lambda.invoke(this.#functionName, JSON.stringify(event));
    if (!answer) return 'The function that knows the tenants is busy.';
    if (answer.result.functionError) return 'The function that knows the tenants failed; its log says why.';
    const response: unknown = JSON.parse(answer.result.payload);
    if (!isObject(response) || response.statusCode !== 200) {
      return `Asking for the tenants was answered with ${isObject(response) ? textOf(response.statusCode) : 'nothing'}.`;
    }
    const body: unknown = JSON.parse(textOf(response.body));
    return isObject(body) ? body : 'The function that knows the tenants answered with something else.';
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
