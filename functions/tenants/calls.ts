import { OPEN_METRICS } from '../contract/metrics.ts';
import type { FunctionSettings } from '../lib/config/table.ts';
import type { TenantId } from '../lib/domain/ids.ts';
import { assertNever } from '../lib/domain/outcomes.ts';
import type { Fault } from '../lib/domain/problems.ts';
import { type Answer, answer, problem, textAnswer } from '../lib/lambda/answer.ts';
import type { QueueClient, SubscriptionRecord } from '../lib/queue/queue-client.ts';
import { parseReading } from '../lib/telemetry/reading.ts';
import { openMetrics } from './open-metrics.ts';
import { queueBody, tenantBody } from './views.ts';

interface TenantCallsOptions {
  readonly settings: Pick<FunctionSettings, 'queue' | 'quantum' | 'visitConcurrency' | 'maxVisitSeconds'>;
  readonly openQueue: () => Promise<QueueClient>;
  readonly wake: () => Promise<void>;
}

interface ListQuery {
  readonly sort: 'depth' | 'oldest';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

function unknownPlan(given: string | undefined, plans: readonly string[]): Answer {
  const detail = `given ${JSON.stringify(given)}, expected a known plan`;
  return problem('unknown_plan', `At plan: ${detail}; known plans are ${plans.join(', ')}.`, {
    errors: [{ in: 'body', path: 'plan', detail } satisfies Fault],
    plans,
  });
}

/** What the routes about tenants and the queue do: one call of the queue each, then the view. */
export function tenantCalls({ settings, openQueue, wake }: TenantCallsOptions) {
  const bounds = {
    quantum: settings.quantum,
    visitConcurrency: settings.visitConcurrency,
    maxVisitMs: settings.maxVisitSeconds * 1000,
  };
  const shown = async (queue: QueueClient, tenant: TenantId): Promise<Answer> =>
    answer(200, tenantBody(await queue.inspect(tenant), bounds));

  return {
    async list({ sort, limit, cursor }: ListQuery): Promise<Answer> {
      const queue = await openQueue();
      const { tenants, next } = await queue.list(sort, limit, cursor);
      return answer(200, { tenants: tenants.map((view) => tenantBody(view, bounds)), next });
    },

    async show(tenant: TenantId): Promise<Answer> {
      return shown(await openQueue(), tenant);
    },

    async subscribe(tenant: TenantId, record: SubscriptionRecord): Promise<Answer> {
      const queue = await openQueue();
      const outcome = await queue.subscribe(tenant, record);
      switch (outcome.outcome) {
        case 'subscribed':
          if (outcome.dispatch) await wake();
          return shown(queue, tenant);
        case 'unknown_plan':
          return unknownPlan(record.plan, outcome.plans);
        default:
          return assertNever(outcome);
      }
    },

    async pause(tenant: TenantId): Promise<Answer> {
      const queue = await openQueue();
      await queue.pause(tenant);
      return shown(queue, tenant);
    },

    async resume(tenant: TenantId): Promise<Answer> {
      const queue = await openQueue();
      const { dispatch } = await queue.resume(tenant);
      if (dispatch) await wake();
      return shown(queue, tenant);
    },

    async remove(tenant: TenantId, scope: 'everything' | 'jobs'): Promise<Answer> {
      const queue = await openQueue();
      return answer(200, { tenant, removed: await queue.purge(tenant, scope) });
    },

    async metrics(): Promise<Answer> {
      const queue = await openQueue();
      const { reading } = await queue.lastReading();
      return textAnswer(OPEN_METRICS, openMetrics(parseReading(reading)));
    },

    async queue(): Promise<Answer> {
      const queue = await openQueue();
      return answer(200, queueBody(settings.queue, await queue.stats()));
    },
  };
}
