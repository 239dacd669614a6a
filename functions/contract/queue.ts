import * as z from 'zod/mini';
import { healthExamples, queueExamples } from './examples.ts';
import { deleteQueueJobsExamples, putQueueExamples } from './queue-examples.ts';
import { bodyCall, checkedCall } from './problem-schemas.ts';
import { route } from '../lib/lambda/route.ts';
import { count, documented, seconds } from './schemas.ts';

const view = documented(
  z.strictObject({
    queue: z.string(),
    paused: z.boolean(),
    capacity: documented(count, { description: 'Visits that may be in flight at once.' }),
    deployedCapacity: documented(count, { description: 'The same, while no operator states another.' }),
    visitsInFlight: count,
    visitsUnopened: documented(count, { description: 'Of these, visits whose invocation has not come yet.' }),
    waitingTenants: count,
    rotation: documented(count, { description: 'Tenants that can be served now.' }),
    depth: documented(count, { description: 'Waiting jobs: ready and delayed.' }),
    ready: count,
    delayed: count,
    inFlight: documented(count, { description: 'Jobs leased and not yet settled.' }),
    dead: count,
    bytes: documented(count, { description: 'Size of the job records.' }),
    oldestAgeSeconds: z.nullable(seconds),
    servedPerSecond: documented(z.nullable(z.number()), { description: 'Null when nothing was served lately.' }),
    estimatedDrainSeconds: z.nullable(seconds),
    dispatcherAlive: z.boolean(),
    totals: documented(
      z.strictObject({
        enqueued: count,
        served: count,
        done: count,
        failed: documented(count, { description: 'Runs that failed.' }),
        died: documented(count, { description: 'Jobs that became dead letters.' }),
        dropped: documented(count, { description: 'Dead letters dropped for newer ones.' }),
        late: documented(count, { description: 'Results that came after their lease had ended, and changed nothing.' }),
      }),
      { description: 'Counted since the queue was made.' },
    ),
  }),
  { id: 'Queue' },
);

export type QueueBody = z.output<typeof view>;

export const getQueue = route({
  operationId: 'getQueue',
  method: 'GET',
  path: '/v1/queue',
  function: 'tenants',
  access: 'operate',
  summary: 'Show the queue as a whole',
  responses: { 200: { description: 'The queue.', schema: view }, ...checkedCall },
  examples: queueExamples,
});

const change = documented(
  z.strictObject({
    paused: z.optional(documented(z.boolean(), { description: 'Whether nothing is served, of any tenant.' })),
    capacity: z.optional(
      documented(z.nullable(z.int().check(z.gte(1), z.lte(10_000))), {
        description: 'Visits that may be in flight at once; null for as many as deployed.',
      }),
    ),
  }),
  { id: 'QueueChange', description: 'What is not given stays as it is.' },
);

export type QueueChange = z.output<typeof change>;

export const putQueue = route({
  operationId: 'putQueue',
  method: 'PUT',
  path: '/v1/queue',
  function: 'tenants',
  access: 'operate',
  summary: 'Pause the queue or change its capacity while it runs',
  description:
    "Acts at once: visits in flight go on, none is begun while the queue is paused or full. Outlives deploys. More capacity than the processing function's reserved concurrency has room for makes invocations wait in Lambda.",
  body: change,
  responses: { 200: { description: 'The queue.', schema: view }, ...bodyCall },
  examples: putQueueExamples,
});

export const deleteQueueJobs = route({
  operationId: 'deleteQueueJobs',
  method: 'DELETE',
  path: '/v1/queue/jobs',
  function: 'tenants',
  access: 'operate',
  summary: 'Delete the waiting jobs of all tenants',
  description:
    'Tenant by tenant, for at most 20 s: `remaining` says whether to call again. Pause the queue first, or jobs are served and enqueued meanwhile.',
  responses: {
    200: {
      description: 'What was removed.',
      schema: z.strictObject({
        queue: z.string(),
        removed: z.strictObject({ ready: count, delayed: count }),
        remaining: documented(count, { description: 'Jobs that wait now.' }),
      }),
    },
    ...checkedCall,
  },
  examples: deleteQueueJobsExamples,
});

const health = documented(
  z.strictObject({
    status: z.literal('ok'),
    queue: z.string(),
    redis: documented(z.strictObject({ milliseconds: documented(count, { description: 'What its answer took.' }) }), {
      description: 'Answered.',
    }),
    dispatcherAlive: documented(z.boolean(), {
      description: 'An idle queue has no dispatcher between two minutes; an enqueue then brings one.',
    }),
    paused: documented(z.boolean(), { description: 'Whether an operator has paused the queue.' }),
  }),
  { id: 'Health' },
);

export type HealthBody = z.output<typeof health>;

/**
 * Not open to everybody, as no route is: what asks holds either permission, and the least of them is of no use for anything
 * but handing in jobs.
 */
export const getHealth = route({
  operationId: 'getHealth',
  method: 'GET',
  path: '/v1/health',
  function: 'enqueue',
  access: 'enqueue',
  summary: 'Say whether the queue takes jobs',
  description:
    'Asks the way that an enqueue goes: gateway, function, Redis; answered within 2 s. Cheap enough to be asked every few seconds.',
  responses: {
    200: {
      description: 'Redis answered.',
      schema: health,
    },
    ...checkedCall,
  },
  examples: healthExamples,
});
