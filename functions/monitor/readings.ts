import type { QueueStats } from '../lib/domain/outcomes.ts';
import type { QueueMetric } from '../lib/telemetry/metric-names.ts';

type Reading = readonly [metric: QueueMetric, value: number];

const counters = ['enqueued', 'served', 'done', 'failed', 'died', 'late'] as const;

/**
 * What a look at the queue amounts to. Counters are told as differences from the look before: without one, and after Redis
 * was emptied, there is nothing to tell.
 */
export function readings(stats: QueueStats, before: QueueStats | undefined): Reading[] {
  const oldestMs = stats.oldestReadySinceMs === null ? 0 : Math.max(0, stats.nowMs - stats.oldestReadySinceMs);
  const differences = counters.flatMap((counter): Reading[] =>
    before === undefined || stats[counter] < before[counter] ? [] : [[counter, stats[counter] - before[counter]]],
  );
  return [
    ['depth', stats.ready + stats.delayed],
    ['inFlight', stats.inFlight],
    ['dead', stats.dead],
    ['oldestAge', oldestMs / 1000],
    ['activeTenants', stats.waitingTenants],
    ['capacity', stats.capacity],
    ['capacityUsed', stats.visitsInFlight],
    ['dispatcherAlive', stats.dispatcherAlive ? 1 : 0],
    ...differences,
  ];
}
