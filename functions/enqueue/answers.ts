import type { TenantId } from '../lib/domain/ids.ts';
import { drainSeconds, expectedRate, retryAfterSeconds } from '../lib/domain/estimates.ts';
import { assertNever, type Cap, type EnqueueOutcome, type Full } from '../lib/domain/outcomes.ts';
import { type Answer, answer, problem } from '../lib/lambda/answer.ts';
import { metricFields } from '../lib/telemetry/emf.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { eventMetrics, QUEUE_DIMENSION } from '../lib/telemetry/metric-names.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

/** Raising the cap takes somebody's decision: no sense in asking more often than this. */
const NEVER_FITS_RETRY_SECONDS = 3_600;

/** How many waiting jobs have to go before the batch fits; where bytes count, jobs of the size that those waiting have. */
function jobsToGo({ cap, used, limit, needed, waiting }: Full): number {
  const excess = used + needed - limit;
  const isBytes = cap === 'maxBytes' || cap === 'maxQueueBytes';
  return isBytes && used > 0 ? Math.ceil((excess * waiting) / used) : excess;
}

const UNITS: Readonly<Record<Cap, string>> = {
  maxDepth: 'waiting jobs of the tenant',
  maxBytes: 'bytes of waiting payloads of the tenant',
  maxQueueDepth: 'waiting jobs of the queue',
  maxQueueBytes: 'bytes of waiting payloads of the queue',
};

function fullAnswer(tenant: TenantId, jobs: number, full: Full): Answer {
  const { cap, depth, limit, needed, room, rate } = full;
  const ofQueue = cap === 'maxQueueDepth' || cap === 'maxQueueBytes';
  const members = { tenant, cap, depth, limit, room, estimatedDrainSeconds: drainSeconds(depth, expectedRate(rate)) };
  if (needed > limit) {
    const detail = `The batch adds ${needed}, and there may never be more than ${limit} ${UNITS[cap]}: it never fits. Send smaller ones, or have the limit raised.`;
    return problem('batch_exceeds_limit', detail, members, NEVER_FITS_RETRY_SECONDS);
  }
  const seconds = retryAfterSeconds(jobsToGo(full), ofQueue ? rate.queue : expectedRate(rate));
  const detail = `There may be ${limit} ${UNITS[cap]}, and the batch adds ${needed}: there is room for ${room} of its ${jobs} jobs; try again in ${seconds} s.`;
  return problem(ofQueue ? 'queue_full' : 'tenant_full', detail, members, seconds);
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

/** Tells of a batch that was refused at a cap, in a line that counts its jobs as well. A refusal writes nothing to Redis. */
export function tellRefusal(
  log: Log,
  metricsName: string,
  tenant: string,
  jobs: number,
  outcome: EnqueueOutcome,
): void {
  if (outcome.outcome !== 'full') return;
  const { cap, depth, limit } = outcome;
  log.info('rejected', {
    event: 'rejected',
    tenant: tenantLabel(tenant),
    jobs,
    cap,
    depth,
    limit,
    ...metricFields({ [QUEUE_DIMENSION]: metricsName }, [[eventMetrics.rejected, [jobs]]]),
  });
}
