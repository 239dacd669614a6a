import * as z from 'zod/mini';
import * as examples from './examples.ts';
import { bodyCall, checkedCall, refusals } from './problem-schemas.ts';
import { route } from '../lib/lambda/route.ts';
import {
  burst,
  count,
  documented,
  maxBytes,
  maxConcurrency,
  maxDepth,
  maxJobsPerSecond,
  planName,
  queryInteger,
  seconds,
  tenantParams,
  weight,
  withDefault,
} from './schemas.ts';

const record = documented(
  z.strictObject({
    plan: z.optional(planName),
    weight: z.optional(weight),
    maxDepth: z.optional(maxDepth),
    maxConcurrency: z.optional(maxConcurrency),
    maxBytes: z.optional(maxBytes),
    maxJobsPerSecond: z.optional(maxJobsPerSecond),
    burst: z.optional(burst),
  }),
  { id: 'SubscriptionRecord', description: 'What the record does not say is as the plan says.' },
);

const limits = documented(
  z.strictObject({
    maxDepth: count,
    maxConcurrency: count,
    maxBytes: z.nullable(count),
    maxJobsPerSecond: z.nullable(z.number()),
    burst: z.nullable(count),
  }),
  { description: 'The limits in force; null where there is none.' },
);

/** Why a tenant's next job does not run yet; of several reasons the one that stands first. */
export const WAITING = [
  'paused',
  'queue_paused',
  'backoff',
  'rate',
  'concurrency',
  'delayed',
  'dispatcher',
  'capacity',
  'turn',
] as const;

const view = documented(
  z.strictObject({
    tenant: z.string(),
    plan: z.string(),
    weight: z.number(),
    limits,
    record: documented(record, { description: 'The subscription record as it was put.' }),
    paused: z.boolean(),
    depth: documented(count, { description: 'Waiting jobs: ready and delayed.' }),
    ready: count,
    delayed: count,
    inFlight: documented(count, { description: 'Jobs leased and not yet settled.' }),
    dead: documented(count, { description: 'Dead letters.' }),
    oldestAgeSeconds: documented(z.nullable(seconds), {
      description: 'How long the ready job that waits longest has been ready; null when none is.',
    }),
    share: documented(
      z.strictObject({ realised: z.nullable(z.number()), entitled: z.number(), windowSeconds: seconds }),
      {
        description:
          'Parts of the service, 0 to 1: what the tenant got over the window (null when nothing was served), and what its weight entitles it to among those waiting now.',
      },
    ),
    estimatedDrainSeconds: documented(z.nullable(seconds), {
      description: 'When its waiting jobs will have been served; null when nothing was served lately.',
    }),
    waiting: documented(
      z.nullable(
        z.strictObject({
          because: documented(z.enum(WAITING), {
            description:
              '`paused`, `queue_paused`: an operator said so, of the tenant or of all; `backoff`: invocations were refused; `rate`: its `maxJobsPerSecond`; `concurrency`: it holds all lanes it may; `delayed`: no job is due; `dispatcher`: slots are free and no dispatcher lives, the schedule brings one within a minute; `capacity`: it is next, and all slots are taken; `turn`: others are ahead in the rotation.',
          }),
          visitsAhead: documented(z.nullable(count), { description: 'Tenants to be visited before it.' }),
          estimatedStartSeconds: documented(z.nullable(seconds), {
            description: 'When it is expected to start, or what holds it to end; null when that is not known.',
          }),
        }),
      ),
      { description: 'Why its next job does not run yet; null when none waits.' },
    ),
    served: documented(count, { description: 'Jobs taken by visits, less those given back, since the tenant came.' }),
    done: count,
    failed: documented(count, { description: 'Runs that failed.' }),
    enqueued: count,
  }),
  { id: 'Tenant' },
);

export type TenantBody = z.output<typeof view>;

const receipt = documented(
  z.strictObject({
    tenant: z.string(),
    removed: z.strictObject({ ready: count, delayed: count, inFlight: count, dead: count }),
  }),
  { id: 'Receipt' },
);

const change = z.strictObject({ tenant: z.string(), before: z.number(), after: z.number() });

const foreseen = documented(
  z.strictObject({
    tenant: z.string(),
    dryRun: z.literal(true),
    plan: z.string(),
    weight: z.number(),
    limits,
    share: documented(z.nullable(z.strictObject({ before: z.number(), after: z.number() })), {
      description:
        'What its weight entitles the tenant to among those that share the service now, 0 to 1; null while it is none of them.',
    }),
    gains: documented(z.array(change), {
      description: 'Tenants whose share would grow, the largest change first; at most 20.',
    }),
    losses: documented(z.array(change), { description: 'Tenants whose share would shrink, likewise.' }),
    notNamed: documented(count, { description: 'Further tenants on either side.' }),
    complete: documented(z.boolean(), {
      description: 'False when more than 5,000 tenants have a backlog: shares are among these.',
    }),
  }),
  { id: 'Foreseen', description: 'What a subscription record would do; nothing was changed.' },
);

export type ForeseenBody = z.output<typeof foreseen>;

export type ReceiptBody = z.output<typeof receipt>;

const operated = { function: 'tenants', access: 'operate', params: tenantParams } as const;
const ETAG = { ETag: 'Entity tag of the subscription record, for `If-Match`.' };
/** A list of strong entity tags, as RFC 9110 (13.1.1) has it. */
const ETAGS = /^\s*(\*|"[\x21\x23-\x7e]*"(\s*,\s*"[\x21\x23-\x7e]*")*)\s*$/;
const shown = { 200: { description: 'The tenant. One that was never seen is an idle one.', schema: view } };

const tagged = { 200: { ...shown[200], headers: ETAG } };

export const listTenants = route({
  operationId: 'listTenants',
  method: 'GET',
  path: '/v1/tenants',
  function: 'tenants',
  access: 'operate',
  summary: 'List the tenants with waiting jobs',
  query: z.strictObject({
    sort: documented(withDefault(z.enum(['depth', 'oldest']), 'depth'), {
      description: 'Most waiting jobs first, or longest waiting first.',
    }),
    limit: queryInteger(1, 1_000, 100, 'Most tenants of the page.'),
    cursor: z.optional(
      documented(z.string().check(z.regex(/^\d{1,9}$/, '`next` of the page before')), {
        description: '`next` of the page before.',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'A page of tenants.',
      schema: z.strictObject({
        tenants: z.array(view),
        next: documented(z.nullable(z.string()), { description: 'Cursor of the next page; null at the end.' }),
      }),
    },
    ...checkedCall,
  },
  examples: examples.listExamples,
});

export const getTenant = route({
  ...operated,
  operationId: 'getTenant',
  method: 'GET',
  path: '/v1/tenants/{tenant}',
  summary: 'Show a tenant',
  responses: { ...tagged, ...checkedCall },
  examples: examples.getExamples,
});

export const putTenant = route({
  ...operated,
  operationId: 'putTenant',
  method: 'PUT',
  path: '/v1/tenants/{tenant}',
  summary: "Replace a tenant's subscription record",
  description:
    "The record is billing's word and replaces the one before as a whole; `{}` leaves nothing of it. It acts on the backlog at once. What the record sets counts before its plan, then the plan of the caller's token, then the default plan.",
  headers: z.object({
    'if-match': z.optional(
      documented(z.string().check(z.regex(ETAGS, '`*`, or entity tags in quotes with commas between')), {
        description:
          'Entity tags, each as `ETag` gave it: the record is replaced only if it still is one of those. `*` is any record.',
      }),
    ),
  }),
  query: z.strictObject({
    dryRun: z.optional(
      documented(z.enum(['true', 'false']), {
        description: '`true`: says what the record would do, and changes nothing.',
      }),
    ),
  }),
  body: record,
  responses: {
    200: { ...tagged[200], schema: z.union([view, foreseen]) },
    412: refusals.recordChanged,
    422: refusals.unknownPlan,
    ...bodyCall,
  },
  examples: examples.putExamples,
});

export const deleteTenant = route({
  ...operated,
  operationId: 'deleteTenant',
  method: 'DELETE',
  path: '/v1/tenants/{tenant}',
  summary: 'Delete everything of a tenant',
  description: 'Jobs that run are not stopped; their results change nothing.',
  responses: { 200: { description: 'What was removed.', schema: receipt }, ...checkedCall },
  examples: examples.deleteExamples,
});

export const deleteTenantJobs = route({
  ...operated,
  operationId: 'deleteTenantJobs',
  method: 'DELETE',
  path: '/v1/tenants/{tenant}/jobs',
  summary: 'Delete the waiting jobs of a tenant',
  responses: { 200: { description: 'What was removed.', schema: receipt }, ...checkedCall },
  examples: examples.deleteExamples,
});

export const pauseTenant = route({
  ...operated,
  operationId: 'pauseTenant',
  method: 'POST',
  path: '/v1/tenants/{tenant}/pause',
  summary: 'Serve nothing of a tenant until it is resumed',
  description: "The operator's word: a new subscription record does not undo it. Jobs go on to be admitted.",
  responses: { ...shown, ...checkedCall },
  examples: examples.pauseExamples,
});

export const resumeTenant = route({
  ...operated,
  operationId: 'resumeTenant',
  method: 'POST',
  path: '/v1/tenants/{tenant}/resume',
  summary: 'Serve a paused tenant again',
  responses: { ...shown, ...checkedCall },
  examples: examples.getExamples,
});
