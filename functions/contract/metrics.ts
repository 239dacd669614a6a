import * as z from 'zod/mini';
import { route } from '../lib/lambda/route.ts';
import { metricsExamples } from './examples.ts';
import { checkedCall } from './problem-schemas.ts';
import { documented } from './schemas.ts';

export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export const getMetrics = route({
  operationId: 'getMetrics',
  method: 'GET',
  path: '/v1/metrics',
  function: 'tenants',
  access: 'operate',
  summary: 'Show the metrics of the queue to a Prometheus',
  description:
    'The last reading of `monitor`, which is made once a minute: of the queue, of up to 20 tenants, and of all others together under the label `other`. Counters never fall while the queue exists. Nothing but the end mark before the first reading.',
  responses: {
    200: {
      description: 'The metrics, in OpenMetrics text.',
      mediaType: OPEN_METRICS,
      schema: documented(z.string(), { id: 'OpenMetrics' }),
    },
    ...checkedCall,
  },
  examples: metricsExamples,
});
