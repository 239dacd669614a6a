import { randomUUID } from 'node:crypto';
import type { Lease, Visit } from '../../lib/domain/outcomes.ts';
import { metricFields } from '../../lib/telemetry/emf.ts';
import { type Log, logWith } from '../../lib/telemetry/logger.ts';
import { eventMetrics, QUEUE_DIMENSION } from '../../lib/telemetry/metric-names.ts';
import { tenantLabel } from '../../lib/telemetry/tenant-label.ts';
import { persist } from './persist.ts';
import { runVisit, type VisitEnd, type VisitOptions } from './run-visit.ts';

/** How long opening is tried while the queue is away; by then the lease is about to lapse. */
const OPEN_MS = 15_000;

/**
 * Opens a lease and works off its visit, then the visits that follow under the same lease while there is time.
 * A lease that is open already or gone is a delivery too many or too late, and is dropped.
 */
export async function runLease(lease: Lease, options: VisitOptions): Promise<void> {
  const { queue } = options;
  const log = logWith(options.log, { leaseId: lease.leaseId });
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
    log.info('lease not opened', { because: opened.outcome });
    return;
  }
  let visit: typeof opened.visit | undefined = opened.visit;
  for (let first = true; visit !== undefined; first = false) {
    const startedMs = performance.now();
    const visitLog = logWith(log, { tenant: tenantLabel(visit.tenant), visit: visit.visit });
    const end = await runVisit(visit, openedMs, first, { ...options, log: visitLog });
    tellVisit(visitLog, options.metricsName, visit, end, performance.now() - startedMs);
    openedMs = end.next?.askedMs ?? openedMs;
    visit = end.next?.visit;
  }
}

/** Tells of a visit in a line that is also the record of how long its jobs had waited. */
function tellVisit(log: Log, metricsName: string, visit: Visit, end: VisitEnd, ms: number): void {
  const waits = end.waitsMs.map((waitMs) => Math.round(waitMs) / 1000);
  log.info('visit', {
    event: 'visit',
    jobs: visit.jobs.length,
    lanes: visit.lanes,
    ms: Math.round(ms),
    waitMs: Math.round(Math.max(0, ...end.waitsMs)),
    outcome: end.outcome,
    ...end.counts,
    ...metricFields({ [QUEUE_DIMENSION]: metricsName }, [[eventMetrics.dispatchLatency, waits]]),
  });
}
