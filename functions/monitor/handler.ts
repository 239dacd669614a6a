import { Metrics } from '@aws-lambda-powertools/metrics';
import * as z from 'zod/mini';
import type { QueueStats } from '../lib/domain/outcomes.ts';
import { eventHandler } from '../lib/lambda/event.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { NAMESPACE, QUEUE_DIMENSION, queueMetrics } from '../lib/telemetry/metric-names.ts';
import { readings } from './readings.ts';

const { settings, log, openQueue } = coldStart('monitor');
const emitter = new Metrics({
  namespace: NAMESPACE,
  serviceName: 'rota',
  defaultDimensions: { [QUEUE_DIMENSION]: settings.queue },
});

/** The look before, as long as this environment lives; it mostly does, being called every minute. */
let before: QueueStats | undefined;

export const handler = eventHandler({ log, schema: z.looseObject({}) }, async () => {
  const queue = await openQueue();
  const stats = await queue.stats();
  for (const [metric, value] of readings(stats, before))
    emitter.addMetric(queueMetrics[metric].name, queueMetrics[metric].unit, value);
  before = stats;
  emitter.publishStoredMetrics();
});
