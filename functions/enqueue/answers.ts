import type { TenantId } from '../lib/domain/ids.ts';
import { drainSeconds, expectedRate, retryAfterSeconds } from '../lib/domain/estimates.ts';
import { assertNever, type EnqueueOutcome } from '../lib/domain/outcomes.ts';
import { type Answer, answer, problem } from '../lib/lambda/answer.ts';
import { metricFields } from '../lib/telemetry/emf.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { eventMetrics, QUEUE_DIMENSION } from '../lib/telemetry/metric-names.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

/** Raising the cap takes somebody's decision: no sense in asking more often than this. */
const NEVER_FITS_RETRY_SECONDS = 3_600;

type Full = Extract<EnqueueOutcome, { outcome: 'full' }>;

function fullAnswer(tenant: TenantId, jobs: number, { depth, limit, room, rate }: Full): Answer {
  const perSecond = expectedRate(rate);
  const estimatedDrainSeconds = drainSeconds(depth, perSecond);
  const members = { tenant, depth, limit, room, estimatedDrainSeconds };
  if (jobs > limit) {
    const detail = `The batch needs room for ${jobs}, and no more than ${limit} may ever wait: it never fits. Send smaller ones, or have the limit raised.`;
    return problem('batch_exceeds_limit', detail, members, NEVER_FITS_RETRY_SECONDS);
  }
  const seconds = retryAfterSeconds(jobs, room, perSecond);
  const detail = `The batch needs room for ${jobs}, and there is room for ${room} of ${limit}; try again in ${seconds} s.`;
  return problem('tenant_full', detail, members, seconds);
}

/** What became of an enqueue of `jobs` jobs, as an answer. */
export function enqueueAnswer(tenant: TenantId, jobs: number, outcome: EnqueueOutcome): Answer {
  switch (outcome.outcome) {
    case 'accepted':
    case 'repeated':
      return answer(outcome.outcome === 'accepted' ? 202 : 200, {
        tenant,
        jobs: outcome.ids.map((id) => ({ id })),
        depth: outcome.depth,
      });
    case 'conflict':
      return problem('idempotency_key_reused', 'The key came with another body; use a new key for new jobs.');
    case 'full':
      return fullAnswer(tenant, jobs, outcome);
    case 'unknown_plan':
      return problem(
        'unknown_plan',
        `The token names a plan there is not; known plans are ${outcome.plans.join(', ')}.`,
        {
          plans: outcome.plans,
        },
      );
    default:
      return assertNever(outcome);
  }
}

/** Tells of a batch that was refused at the tenant's cap, in a line that counts its jobs as well. A refusal writes nothing to Redis. */
export function tellRefusal(
  log: Log,
  metricsName: string,
  tenant: string,
  jobs: number,
  outcome: EnqueueOutcome,
): void {
  if (outcome.outcome !== 'full') return;
  const { depth, limit } = outcome;
  log.info('rejected', {
    event: 'rejected',
    tenant: tenantLabel(tenant),
    jobs,
    depth,
    limit,
    ...metricFields({ [QUEUE_DIMENSION]: metricsName }, [[eventMetrics.rejected, [jobs]]]),
  });
}
