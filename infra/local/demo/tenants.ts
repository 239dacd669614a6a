import { createClient } from '../../../functions/contract/client.ts';

/** The guide's morning: one import of a large tenant, and two small tenants that come while it drains. */
export interface DemoTenant {
  readonly tenant: string;
  readonly plan: string;
  readonly weight: number;
  readonly jobs: number;
  /** The subscription record that billing would put. */
  readonly record: { readonly plan: string; readonly maxDepth?: number };
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

/** What the demo asks of the queue's HTTP API. */
export class DemoApi {
  readonly #client: ReturnType<typeof createClient>;

  constructor(url: string) {
    this.#client = createClient({ url });
  }

  async subscribe({ tenant, record }: DemoTenant): Promise<void> {
    await this.#client.putTenant(tenant, record);
  }

  async state(tenant: string): Promise<TenantState> {
    return await this.#client.getTenant(tenant);
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
        await this.#client.enqueue({ tenant, jobs: batch });
        enqueued += count;
        onProgress(enqueued);
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, producer));
  }
}
