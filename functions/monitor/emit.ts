import { type Measured, metricFields } from '../lib/telemetry/emf.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { metricsOf, OTHER, type QueueMetric, queueMetrics, tenantMetrics } from '../lib/telemetry/metric-names.ts';
import type { Reading } from '../lib/telemetry/reading.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

type Told = Reading['other'];

function queueMeasures(reading: Reading): Measured[] {
  const values: Partial<Record<QueueMetric, number>> = {
    ...reading.queue,
    ...reading.since,
    sweepDifferences: reading.sweep.differencesSince,
  };
  return metricsOf(queueMetrics).map((metric) => {
    const value = values[metric];
    return [queueMetrics[metric], value === undefined ? [] : [value]];
  });
}

const tenantMeasures = (told: Told): Measured[] => [
  [tenantMetrics.served, [told.servedSince]],
  [tenantMetrics.depth, [told.depth]],
  [tenantMetrics.oldestAge, [told.oldestAgeSeconds]],
  [tenantMetrics.inFlight, [told.inFlight]],
  [tenantMetrics.realisedShare, told.realisedShare === null ? [] : [told.realisedShare]],
  [tenantMetrics.entitledShare, told.entitledShare === null ? [] : [told.entitledShare]],
];

/** Tells of a reading: a line for the queue, one for each tenant with a label, one for all others. */
export function emitReading(log: Log, queue: string, reading: Reading): void {
  log.info('queue', metricFields({ queue }, queueMeasures(reading)));
  const emitTenant = (tenant: string, told: Told) =>
    log.info('tenant', metricFields({ queue, tenant }, tenantMeasures(told)));
  for (const told of reading.tenants) emitTenant(tenantLabel(told.tenant), told);
  emitTenant(OTHER, reading.other);
}
