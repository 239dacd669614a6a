import { type Measured, metricFields } from '../lib/telemetry/emf.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import {
  OTHER,
  QUEUE_DIMENSION,
  type QueueMetric,
  queueMetrics,
  type Stated,
  TENANT_DIMENSION,
  tenantMetrics,
} from '../lib/telemetry/metric-names.ts';
import { gaugesOf, type Reading } from '../lib/telemetry/reading.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

type Told = Reading['other'];

/** Values by the keys of a table of metrics; what is not known now is left out. */
const measured = <Key extends string>(
  table: Readonly<Record<Key, Stated>>,
  values: Readonly<Partial<Record<Key, number | null>>>,
): Measured[] =>
  Object.entries<number | null | undefined>(values).flatMap(([key, value]): Measured[] =>
    // The keys are those of the table, by their type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    value === null || value === undefined ? [] : [[table[key as Key], [value]]],
  );

/** Tells CloudWatch of a reading: a record for the queue, one for each tenant with a label, and last one for all others. */
export function emitReading(log: Log, metricsName: string, reading: Reading): void {
  const dimensions = { [QUEUE_DIMENSION]: metricsName };
  const values: Partial<Record<QueueMetric, number>> = {
    ...reading.queue,
    ...reading.since,
    sweepDifferences: reading.sweep.differencesSince,
  };
  log.info('queue', metricFields(dimensions, measured(queueMetrics, values)));
  const emitTenant = (label: string, told: Told) => {
    log.info(
      'tenant',
      metricFields(
        { ...dimensions, [TENANT_DIMENSION]: label },
        measured(tenantMetrics, { served: told.servedSince, ...gaugesOf(told) }),
      ),
    );
  };
  for (const told of reading.tenants) emitTenant(tenantLabel(told.tenant), told);
  emitTenant(OTHER, reading.other);
}
