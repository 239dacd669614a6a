import { claim, enqueue, type ModelSettled, settle } from '../../functions/lib/domain/model/life.ts';
import { createModel, type Model, type ModelConfig, type ModelLease } from '../../functions/lib/domain/model/state.ts';
import type { JobResult } from '../../functions/lib/domain/outcomes.ts';
import { testConfig } from './queue-fixture.ts';

const limits = (weight: number) => ({ weight, maxDepth: 500_000, maxConcurrency: 50 });

const MODEL_CONFIG: ModelConfig = testConfig({
  plans: { enterprise: limits(8), growth: limits(3), free: limits(1) },
  capacity: 5,
});

/**
 * A model alone, with a clock that stands where it is put and names made by counting. It keeps book of what each tenant
 * was given, in cost ÷ weight, apart from the model's own turns.
 */
export class ModelQueue {
  readonly model: Model;
  /** Cost claimed less given back, each at the weight of its visit. */
  readonly service = new Map<string, number>();
  nowMs = 1_000_000;
  #names = 0;

  constructor(config: Partial<ModelConfig> = {}) {
    this.model = createModel({ ...MODEL_CONFIG, ...config });
  }

  enqueue(tenant: string, costs: readonly number[], claimPlan?: string): string[] {
    const jobs = costs.map((cost) => ({ id: `job-${++this.#names}`, cost, maxAttempts: 3, delayMs: 0, bytes: 20 }));
    const answer = enqueue(this.model, { tenant, claimPlan, jobs }, this.nowMs);
    if (answer.outcome !== 'accepted') throw new Error(`the model refused an enqueue: ${answer.outcome}`);
    return answer.ids;
  }

  /** Claims and opens at once. */
  claim(max: number): ModelLease[] {
    const { visits } = claim(this.model, max, this.nowMs, () => this.#name());
    for (const lease of visits) {
      lease.nonce = 'nonce';
      lease.endsAtMs = this.nowMs + this.model.config.leaseMs;
      this.#account(
        lease,
        lease.jobs.map((job) => job?.cost ?? 0),
        1,
      );
    }
    return visits;
  }

  /** Ends a visit: the first `started` jobs are done, the rest are given back. */
  end(lease: ModelLease, options: { started?: number; durationMs?: number; claimNext?: boolean } = {}): ModelSettled {
    const { started = lease.jobs.length, durationMs = 0, claimNext = false } = options;
    const costs = lease.jobs.map((job) => job?.cost ?? 0);
    const results = costs.map(
      (_, index): JobResult =>
        index < started ? { index: index + 1, result: 'done', durationMs } : { index: index + 1, result: 'given_back' },
    );
    const next = claimNext ? { leaseId: lease.leaseId, token: this.#name().token } : undefined;
    const answer = settle(this.model, lease, results, this.nowMs, next);
    this.#account(lease, costs.slice(started), -1);
    if (answer.outcome === 'continued') {
      this.#account(
        answer.lease,
        answer.lease.jobs.map((job) => job?.cost ?? 0),
        1,
      );
    }
    return answer;
  }

  #name(): { leaseId: string; token: string } {
    this.#names += 1;
    return { leaseId: `lease-${this.#names}`, token: `token-${this.#names}` };
  }

  #account(lease: ModelLease, costs: readonly number[], sign: number): void {
    const cost = costs.reduce((sum, one) => sum + one, 0);
    this.service.set(lease.tenant, (this.service.get(lease.tenant) ?? 0) + (sign * cost) / lease.weight);
  }
}
