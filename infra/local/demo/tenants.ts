/** The guide's morning: one import of a large tenant, and two small tenants that come while it drains. */
export interface DemoTenant {
  readonly tenant: string;
  readonly plan: string;
  readonly weight: number;
  readonly jobs: number;
  /** The subscription record that billing would put. */
  readonly record: Record<string, unknown>;
}

/** What the API says of a tenant, as far as the demo shows it. */
export interface TenantState {
  readonly tenant: string;
  readonly depth: number;
  readonly inFlight: number;
  readonly done: number;
  readonly oldestAgeSeconds: number | null;
  readonly weight: number;
}

export const SLEEP_MS = 50;
const BATCH = 500;
const REQUESTS_AT_ONCE = 4;

export function demoTenants(jobs: number): { big: DemoTenant; small: DemoTenant[] } {
  return {
    big: {
      tenant: 'acme',
      plan: 'growth',
      weight: 3,
      jobs,
      record: { plan: 'growth', maxDepth: Math.max(500_000, jobs) },
    },
    small: [
      { tenant: 'globex', plan: 'free', weight: 1, jobs: 12, record: { plan: 'free' } },
      { tenant: 'initech', plan: 'enterprise', weight: 8, jobs: 3, record: { plan: 'enterprise' } },
    ],
  };
}

/** The queue's HTTP API, for the demo's few calls. Anything but the expected status is an error that shows the answer. */
export class DemoApi {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async #call<Answer>(method: string, path: string, expected: number, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== expected) {
      throw new Error(`${method} ${path} answered ${response.status} instead of ${expected}: ${text}`);
    }
    return JSON.parse(text);
  }

  async subscribe({ tenant, record }: DemoTenant): Promise<void> {
    await this.#call('PUT', `/v1/tenants/${tenant}`, 200, record);
  }

  async state(tenant: string): Promise<TenantState> {
    return this.#call('GET', `/v1/tenants/${tenant}`, 200);
  }

  /** Enqueues all jobs of a tenant, a few batches at once. Tells how many are in after each. */
  async enqueueAll({ tenant, jobs }: DemoTenant, onProgress: (enqueued: number) => void): Promise<void> {
    let taken = 0;
    let enqueued = 0;
    const producer = async () => {
      while (taken < jobs) {
        const count = Math.min(BATCH, jobs - taken);
        taken += count;
        const batch = Array.from({ length: count }, () => ({ type: 'sleep', payload: { ms: SLEEP_MS } }));
        await this.#call('POST', '/v1/jobs', 202, { tenant, jobs: batch });
        enqueued += count;
        onProgress(enqueued);
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, producer));
  }
}
