import { randomUUID } from 'node:crypto';
import type { Lease } from '../../lib/domain/outcomes.ts';
import { persist } from './persist.ts';
import { runVisit, type VisitOptions } from './run-visit.ts';

/** How long opening is tried while the queue is away; by then the lease is about to lapse. */
const OPEN_MS = 15_000;

/**
 * Opens a lease and works off its visit, then the visits that follow under the same lease while there is time.
 * A lease that is open already or gone is a delivery too many or too late, and is dropped.
 */
export async function runLease(lease: Lease, options: VisitOptions): Promise<void> {
  const { queue, log } = options;
  // Drawn here and not the id of the request, which is the same when Lambda delivers an event twice.
  const nonce = randomUUID();
  const openUntilMs = performance.now() + OPEN_MS;
  let openedMs = performance.now();
  const opened = await persist(
    () => {
      openedMs = performance.now();
      return queue.open(lease, nonce);
    },
    () => openUntilMs,
    log,
  );
  if (opened.outcome !== 'opened') {
    log.info('lease not opened', { lease: lease.leaseId, because: opened.outcome });
    return;
  }
  let visit: typeof opened.visit | undefined = opened.visit;
  for (let first = true; visit !== undefined; first = false) {
    const startedMs = performance.now();
    const { tenant, leaseId, visit: number, jobs, lanes } = visit;
    const end = await runVisit(visit, openedMs, first, options);
    const ms = Math.round(performance.now() - startedMs);
    log.info('visit', {
      tenant,
      lease: leaseId,
      visit: number,
      jobs: jobs.length,
      lanes,
      ms,
      outcome: end.outcome,
      ...end.counts,
    });
    openedMs = end.next?.askedMs ?? openedMs;
    visit = end.next?.visit;
  }
}
