import { OPEN_METRICS } from '../contract/metrics.ts';
import type { FunctionSettings } from '../lib/config/table.ts';
import type { TenantId } from '../lib/domain/ids.ts';
import { assertNever, type TenantView } from '../lib/domain/outcomes.ts';
import type { Fault } from '../lib/domain/problems.ts';
import { type Answer, answer, problem, textAnswer } from '../lib/lambda/answer.ts';
import type { Operator, SubscriptionRecord } from '../lib/queue/queue-client.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import type { Change } from './audit.ts';
import { changesOf } from './changes.ts';
import { foresee } from './dry-run.ts';
import { parseReading } from '../lib/telemetry/reading.ts';
import { openMetrics } from './open-metrics.ts';
import { etagHeader, tenantBody } from './views.ts';

interface TenantCallsOptions {
  readonly settings: Pick<
    FunctionSettings,
    'plans' | 'defaultPlan' | 'quantum' | 'visitConcurrency' | 'maxVisitSeconds'
  >;
  readonly openQueue: () => Promise<Operator>;
  readonly wake: () => Promise<void>;
  readonly log: Log;
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

const CHANGED =
  'Somebody else has replaced the record since you read it, nothing was changed: read the tenant, and put with its ETag.';

const lastReading = async (queue: Operator) => parseReading((await queue.lastReading()).reading);

/** What the routes about tenants do: one call of the queue each, then the view. Changes leave a line about them. */
export function tenantCalls({ settings, openQueue, wake, log }: TenantCallsOptions) {
  const bounds = {
    quantum: settings.quantum,
    visitConcurrency: settings.visitConcurrency,
    maxVisitMs: settings.maxVisitSeconds * 1000,
  };

  const shown = async (view: TenantView, queue: Operator): Promise<Answer> => ({
    ...answer(200, tenantBody(view, bounds, await lastReading(queue))),
    headers: etagHeader(view),
  });

  const changing = changesOf({ openQueue, wake, log });

  return {
    async list({ sort, limit, cursor }: ListQuery): Promise<Answer> {
      const queue = await openQueue();
      const [{ tenants, next }, reading] = await Promise.all([queue.list(sort, limit, cursor), lastReading(queue)]);
      return answer(200, { tenants: tenants.map((view) => tenantBody(view, bounds, reading)), next });
    },

    async show(tenant: TenantId): Promise<Answer> {
      const queue = await openQueue();
      return shown(await queue.inspect(tenant), queue);
    },

    async foresee(tenant: TenantId, record: SubscriptionRecord): Promise<Answer> {
      const { plan } = record;
      if (plan !== undefined && !Object.hasOwn(settings.plans, plan))
        return unknownPlan(plan, Object.keys(settings.plans).toSorted());
      const queue = await openQueue();
      const view = await queue.inspect(tenant);
      return { ...answer(200, await foresee(queue, view, record, settings)), headers: etagHeader(view) };
    },

    subscribe: (change: Change, record: SubscriptionRecord, ifMatch: string | undefined): Promise<Answer> =>
      changing(change, async (queue) => {
        const outcome = await queue.subscribe(change.tenant, record, ifMatch?.replaceAll(/["\s]/g, ''));
        switch (outcome.outcome) {
          case 'subscribed':
            return { dispatch: outcome.dispatch, answer: shown };
          case 'unknown_plan':
            return { refused: unknownPlan(record.plan, outcome.plans) };
          case 'changed':
            return { refused: { ...problem('precondition_failed', CHANGED), headers: etagHeader(outcome) } };
          default:
            return assertNever(outcome);
        }
      }),

    pause: (change: Change): Promise<Answer> =>
      changing(change, async (queue) => {
        await queue.pause(change.tenant);
        return { answer: shown };
      }),

    resume: (change: Change): Promise<Answer> =>
      changing(change, async (queue) => ({ ...(await queue.resume(change.tenant)), answer: shown })),

    remove: (change: Change, scope: 'everything' | 'jobs'): Promise<Answer> =>
      changing(change, async (queue) => {
        const { tenant } = change;
        const removed = await queue.purge(tenant, scope);
        return { answer: () => answer(200, { tenant, removed }) };
      }),

    async metrics(): Promise<Answer> {
      const queue = await openQueue();
      return textAnswer(OPEN_METRICS, openMetrics(await lastReading(queue)));
    },
  };
}
