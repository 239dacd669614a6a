import type { EnqueueBody } from '../contract/jobs.ts';
import { longestJobSeconds } from '../lib/config/relations.ts';
import type { FunctionSettings } from '../lib/config/table.ts';
import { type Answer, answer } from '../lib/lambda/answer.ts';
import type { Call } from '../lib/lambda/request.ts';
import type { Producer } from '../lib/queue/queue-client.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { enqueueAnswer, tellRefusal } from './answers.ts';
import { identify } from './identity.ts';
import { newJobs } from './new-jobs.ts';
import { namedTenant } from './tenant-from.ts';

interface EnqueueCallsOptions {
  readonly settings: FunctionSettings & { readonly jobTypes: readonly string[]; readonly metricsName: string };
  readonly openQueue: () => Promise<Producer>;
  readonly wake: () => Promise<void>;
  readonly log: Log;
}

/** What stands in headers, or beside the body of a direct invoke. */
interface Given {
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** What the routes of producers do. */
export function enqueueCalls({ settings, openQueue, wake, log }: EnqueueCallsOptions) {
  const rules = {
    jobTypes: settings.jobTypes,
    maxAttempts: settings.retry.maxAttempts,
    longestSeconds: longestJobSeconds(settings),
  };

  return {
    async enqueue(
      body: EnqueueBody,
      { idempotencyKey, traceparent: trace }: Given,
      call: Pick<Call, 'claims' | 'direct' | 'source'>,
    ): Promise<Answer> {
      const { tenant, plan } = identify(call, namedTenant(body, settings.tenantFrom), settings.auth);
      const jobs = newJobs(body, { source: call.source, trace }, rules);
      const queue = await openQueue();
      const outcome = await queue.enqueue({ tenant, claimPlan: plan, idempotencyKey, jobs });
      if (outcome.outcome === 'accepted' && outcome.dispatch) await wake();
      tellRefusal(log, settings.metricsName, tenant, jobs.length, outcome);
      return enqueueAnswer(tenant, jobs.length, outcome);
    },

    async health(): Promise<Answer> {
      const queue = await openQueue();
      const askedMs = performance.now();
      const { dispatcherAlive, paused } = await queue.stats();
      const milliseconds = Math.round(performance.now() - askedMs);
      return answer(200, { status: 'ok', queue: settings.queue, redis: { milliseconds }, dispatcherAlive, paused });
    },
  };
}
