import type { TenantBody } from '../contract/tenants.ts';
import { assertNever, type HeldReason, type TenantView } from '../lib/domain/outcomes.ts';

/** The settings that bound how many jobs a visit takes. */
export interface VisitBounds {
  readonly quantum: number;
  readonly visitConcurrency: number;
  readonly maxVisitMs: number;
}

/** Which of several reasons is told: the one that lasts longest. */
const byPrecedence: readonly HeldReason[] = ['paused', 'backoff', 'rate', 'concurrency'];

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

/** Why a tenant's next job does not run yet and when it is expected to; null when none waits. */
export function waiting(view: TenantView, bounds: VisitBounds): TenantBody['waiting'] {
  if (view.ready + view.delayed === 0) return null;
  const because = byPrecedence.find((reason) => view.held.includes(reason)) ?? (view.ready === 0 ? 'delayed' : 'turn');
  const heldUntilMs = because === 'rate' ? view.limitedUntilMs : view.heldUntilMs;
  const untilHeld = heldUntilMs === null ? null : tenths((heldUntilMs - view.nowMs) / 1000);
  switch (because) {
    case 'turn':
      return { because, visitsAhead: view.visitsAhead, estimatedStartSeconds: startSeconds(view, bounds) };
    case 'rate':
    case 'backoff':
      return { because, visitsAhead: null, estimatedStartSeconds: untilHeld };
    case 'paused':
    case 'concurrency':
    case 'delayed':
      return { because, visitsAhead: null, estimatedStartSeconds: null };
    default:
      return assertNever(because);
  }
}
