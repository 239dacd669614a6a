import * as z from 'zod/mini';
import { PAYLOAD_MAX_BYTES, PAYLOAD_MAX_DEPTH, REQUEST_MAX_BYTES } from '../lib/domain/payload.ts';
import { enqueueExamples } from './examples.ts';
import { bodyCall, refusals } from './problem-schemas.ts';
import { route } from '../lib/lambda/route.ts';
import { count, documented, tenantId } from './schemas.ts';

const DAY_SECONDS = 86_400;

/** Most jobs of one request. */
const BATCH_MAX = 500;

/**
 * Costs are the producer's word. Next to nothing would be lost in the rounding of a turn: the tenant would stay at the head of
 * the rotation, and all others would wait until its last job has gone.
 */
const COST_MIN = 0.01;

const newJob = documented(
  z.strictObject({
    type: documented(z.string().check(z.minLength(1), z.maxLength(64)), {
      description: 'A job type that is registered.',
    }),
    payload: documented(z.unknown().check(z.refine((value) => value !== undefined, 'any JSON')), {
      description: `Any JSON, up to ${PAYLOAD_MAX_BYTES} bytes as UTF-8 without white space and ${PAYLOAD_MAX_DEPTH} levels deep. The job gets what is equal to it; a number with more digits than a double holds comes back rounded, of a key that stands twice in an object the last value counts.`,
    }),
    delaySeconds: z.optional(
      documented(z.number().check(z.gte(0), z.lte(30 * DAY_SECONDS)), {
        description: 'Not served before this many seconds have passed.',
      }),
    ),
    cost: z.optional(
      documented(z.number().check(z.gte(COST_MIN), z.lte(1_000)), {
        description: 'What the job takes of the share of its tenant; 1 if not given.',
      }),
    ),
    maxAttempts: z.optional(
      documented(z.int().check(z.gte(1), z.lte(100)), { description: 'Runs before the job is a dead letter.' }),
    ),
    timeoutSeconds: z.optional(
      documented(z.int().check(z.gte(1), z.lte(885)), {
        description: 'Time of one run. At most the timeout of the processing function less 15 s.',
      }),
    ),
  }),
  { id: 'NewJob' },
);

export type NewJobBody = z.output<typeof newJob>;

const body = z.strictObject({
  tenant: documented(z.optional(tenantId), {
    description:
      'Whose jobs these are. May be left out with a token that names its tenant, and where the payloads do (setting `tenantFrom`).',
  }),
  jobs: z.array(newJob).check(z.minLength(1), z.maxLength(BATCH_MAX)),
});

export type EnqueueBody = z.output<typeof body>;

/** Printable ASCII; also what a direct invoke gives beside the body. */
const idempotencyKey = documented(
  z.string().check(z.regex(/^[\x20-\x7e]{1,255}$/, '1 to 255 printable ASCII characters')),
  {
    description: 'The same key again, within a day, is answered with the first answer and admits nothing.',
  },
);

/** Any text: one that is malformed does not count, as its standard demands. */
const traceparent = documented(z.string(), {
  description:
    'The trace that the jobs belong to, by W3C Trace Context. Handed to the handlers of the jobs and sent along by webhooks; ignored when malformed.',
});

/** What a direct invoke of the function gives: the body, and what has no header to be in. */
export const directEnqueue = z.extend(body, {
  idempotencyKey: z.optional(idempotencyKey),
  traceparent: z.optional(traceparent),
});

const accepted = documented(
  z.strictObject({
    tenant: z.string(),
    jobs: documented(z.array(z.strictObject({ id: z.string() })), { description: 'In the order given.' }),
    depth: documented(count, { description: 'Waiting jobs of the tenant, these included.' }),
  }),
  { id: 'Accepted' },
);

export const enqueueJobs = route({
  operationId: 'enqueueJobs',
  method: 'POST',
  path: '/v1/jobs',
  function: 'enqueue',
  access: 'enqueue',
  summary: 'Enqueue jobs of one tenant, all or none',
  description: `At most ${BATCH_MAX} jobs and ${REQUEST_MAX_BYTES} bytes. A producer that may invoke the function can send the same body as the event of a direct invoke, with \`idempotencyKey\` as a further field; it gets the same object as here, with the HTTP status in \`status\` and, where there would be a Retry-After, the seconds in \`retryAfterSeconds\`.`,
  headers: z.object({ 'idempotency-key': z.optional(idempotencyKey), traceparent: z.optional(traceparent) }),
  body,
  responses: {
    200: { description: 'The idempotency key came before: the first answer again.', schema: accepted },
    202: { description: 'Admitted, all of them.', schema: accepted },
    403: refusals.tenantForbidden,
    422: refusals.unknownName,
    429: refusals.full,
    ...bodyCall,
  },
  examples: enqueueExamples,
});
