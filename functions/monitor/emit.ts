import { Metrics } from '@aws-lambda-powertools/metrics';
import {
  metricsOf,
  NAMESPACE,
  OTHER,
  QUEUE_DIMENSION,
  type QueueMetric,
  queueMetrics,
  TENANT_DIMENSION,
  type TenantMetric,
  tenantMetrics,
} from '../lib/telemetry/metric-names.ts';
import type { Reading } from '../lib/telemetry/reading.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

type Emitter = Pick<Metrics, 'addDimension' | 'addMetric' | 'publishStoredMetrics'>;
type Told = Reading['other'];

/** What emits the metrics of a queue, under the dimensions of the table of metrics and no others. */
export function createEmitter(queue: string): Metrics {
  const emitter = new Metrics({ namespace: NAMESPACE });
  // It brings a dimension `service` of its own.
  emitter.clearDefaultDimensions();
  return emitter.setDefaultDimensions({ [QUEUE_DIMENSION]: queue });
}

const valuesOf = (told: Told): Readonly<Record<TenantMetric, number | null>> => ({
  served: told.servedSince,
  depth: told.depth,
  oldestAge: told.oldestAgeSeconds,
  inFlight: told.inFlight,
  realisedShare: told.realisedShare,
  entitledShare: told.entitledShare,
});

function emitTenant(emitter: Emitter, label: string, told: Told): void {
  emitter.addDimension(TENANT_DIMENSION, label);
  const values = valuesOf(told);
  for (const metric of metricsOf(tenantMetrics)) {
    const value = values[metric];
    const { name, unit } = tenantMetrics[metric];
    if (value !== null) emitter.addMetric(name, unit, value);
  }
  emitter.publishStoredMetrics();
}

/** Tells CloudWatch of a reading: a record for the queue, one for each tenant with a label, one for all others. */
export function emitReading(emitter: Emitter, reading: Reading): void {
  const values: Partial<Record<QueueMetric, number>> = {
    ...reading.queue,
    ...reading.since,
    sweepDifferences: reading.sweep.differencesSince,
  };
  for (const metric of metricsOf(queueMetrics)) {
    const value = values[metric];
    const { name, unit } = queueMetrics[metric];
    if (value !== undefined) emitter.addMetric(name, unit, value);
  }
  emitter.publishStoredMetrics();
  for (const told of reading.tenants) emitTenant(emitter, tenantLabel(told.tenant), told);
  emitTenant(emitter, OTHER, reading.other);
}
