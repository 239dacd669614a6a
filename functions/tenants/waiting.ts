import { type TenantBody, WAITING } from '../contract/tenants.ts';
import { assertNever, type TenantView } from '../lib/domain/outcomes.ts';

/** The settings that bound how many jobs a visit takes. */
export interface VisitBounds {
  readonly quantum: number;
  readonly visitConcurrency: number;
  readonly maxVisitMs: number;
}

const tenths = (seconds: number) => Math.max(0, Math.round(seconds * 10)) / 10;

/** Jobs of a visit, were the tenants ahead like this one: the budget, cut where the jobs are slow. */
function jobsPerVisit({ weight, p95Ms }: TenantView, { quantum, visitConcurrency, maxVisitMs }: VisitBounds): number {
  const byLength = p95Ms === null || p95Ms <= 0 ? 1 : (maxVisitMs * visitConcurrency) / p95Ms;
  return Math.max(1, Math.floor(Math.min(quantum * weight, byLength)));
}

function startSeconds(view: TenantView, bounds: VisitBounds): number | null {
  if (view.visitsAhead === null) return null;
  if (view.visitsAhead === 0) return 0;
  const queueRate = view.rate.queue;
  if (queueRate === null || queueRate <= 0) return null;
  return tenths((view.visitsAhead * jobsPerVisit(view, bounds)) / queueRate);
}

type Because = (typeof WAITING)[number];

/** Whether each reason holds, in the order of the contract: the first that does is told. */
const reasons: Readonly<Record<Because, (view: TenantView) => boolean>> = {
  paused: ({ held }) => held.includes('paused'),
  queue_paused: ({ queuePaused }) => queuePaused,
  backoff: ({ held }) => held.includes('backoff'),
  rate: ({ held }) => held.includes('rate'),
  concurrency: ({ held }) => held.includes('concurrency'),
  delayed: ({ ready }) => ready === 0,
  dispatcher: ({ freeSlots, dispatcherAlive }) => freeSlots > 0 && !dispatcherAlive,
  capacity: ({ freeSlots, visitsAhead }) => freeSlots <= 0 && visitsAhead === 0,
  turn: () => true,
};

const until = (endMs: number | null, { nowMs }: TenantView) => (endMs === null ? null : tenths((endMs - nowMs) / 1000));

/** When what a tenant waits for is over; null when that is not known. */
function endOf(because: Because, view: TenantView, bounds: VisitBounds): number | null {
  switch (because) {
    case 'turn':
      return startSeconds(view, bounds);
    case 'rate':
      return until(view.limitedUntilMs, view);
    case 'backoff':
      return until(view.heldUntilMs, view);
    case 'delayed':
      return until(view.dueMs, view);
    case 'paused':
    case 'queue_paused':
    case 'concurrency':
    case 'dispatcher':
    case 'capacity':
      return null;
    default:
      return assertNever(because);
  }
}

/** Why a tenant's next job does not run yet and when it is expected to; null when none waits. */
export function waiting(view: TenantView, bounds: VisitBounds): TenantBody['waiting'] {
  if (view.ready + view.delayed === 0) return null;
  const because = WAITING.find((reason) => reasons[reason](view)) ?? 'turn';
  return { because, visitsAhead: view.visitsAhead, estimatedStartSeconds: endOf(because, view, bounds) };
}
