import * as z from 'zod/mini';
import { type ProblemCode, problems, problemType } from '../lib/domain/problems.ts';
import type { Response } from '../lib/lambda/route.ts';
import { count, documented, seconds } from './schemas.ts';

const RETRY_AFTER = { 'Retry-After': 'Whole seconds after which trying again makes sense.' };

/** The members of every problem document (RFC 9457) of these codes. */
const members = (codes: readonly ProblemCode[]) => ({
  type: z.enum(codes.map(problemType)),
  title: z.string(),
  status: z.literal([...new Set(codes.map((code) => problems[code].status))]),
  detail: documented(z.string(), { description: 'What was given, what was expected, what to do.' }),
  requestId: documented(z.string(), { description: 'Names the request in the logs.' }),
});

const fault = documented(
  z.strictObject({
    in: z.enum(['body', 'query', 'path', 'header']),
    path: documented(z.string(), { description: 'As in `jobs[3].cost`; empty for the whole.' }),
    detail: z.string(),
  }),
  { id: 'Fault' },
);

const faulty = {
  errors: z.optional(documented(z.array(fault), { description: 'Every fault; the first 1,000 if there are more.' })),
};

const badRequest: Response = {
  description: 'Not JSON, or faults; each is named with its place.',
  schema: documented(z.strictObject({ ...members(['malformed_body', 'invalid_request']), ...faulty }), {
    id: 'BadRequest',
  }),
};

const tooLarge: Response = {
  description: 'The request or a payload is too large.',
  schema: documented(z.strictObject({ ...members(['too_large']), ...faulty }), { id: 'TooLarge' }),
};

const mediaType: Response = {
  description: 'The body is not declared as `application/json` in UTF-8.',
  schema: documented(z.strictObject(members(['unsupported_media_type'])), { id: 'WrongMediaType' }),
};

const tenantForbidden: Response = {
  description: 'The token names no tenant, or another one.',
  schema: documented(z.strictObject(members(['tenant_forbidden'])), { id: 'TenantForbidden' }),
};

const unknownPlan: Response = {
  description: 'There is no such plan; the answer lists those there are.',
  schema: documented(z.strictObject({ ...members(['unknown_plan']), ...faulty, plans: z.array(z.string()) }), {
    id: 'UnknownPlan',
  }),
};

const unknownName: Response = {
  description:
    'An unknown job type or plan, with a list of the known ones; or an idempotency key that came before with another body.',
  schema: documented(
    z.strictObject({
      ...members(['unknown_job_type', 'unknown_plan', 'idempotency_key_reused']),
      ...faulty,
      jobTypes: z.optional(z.array(z.string())),
      plans: z.optional(z.array(z.string())),
    }),
    { id: 'UnknownName' },
  ),
};

const recordChanged: Response = {
  description: 'The subscription record is not the one that `If-Match` names; `ETag` is that of the record there is.',
  headers: { ETag: 'Entity tag of the subscription record as it is now.' },
  schema: documented(z.strictObject(members(['precondition_failed'])), { id: 'RecordChanged' }),
};

const full: Response = {
  description:
    'The batch would pass a cap; nothing was admitted. `tenant_full`, `queue_full`: a cap of the tenant, or of the whole queue. `batch_exceeds_limit`: it never fits, whatever is served meanwhile.',
  headers: RETRY_AFTER,
  schema: documented(
    z.strictObject({
      ...members(['tenant_full', 'queue_full', 'batch_exceeds_limit']),
      tenant: z.string(),
      cap: documented(z.enum(['maxDepth', 'maxBytes', 'maxQueueDepth', 'maxQueueBytes']), {
        description: 'The cap that the batch would pass.',
      }),
      depth: documented(count, { description: 'Waiting jobs of the tenant.' }),
      limit: documented(count, { description: 'The cap: jobs, or bytes of payloads.' }),
      room: documented(count, { description: 'Jobs of the batch, from the first on, that would be admitted now.' }),
      estimatedDrainSeconds: documented(z.nullable(seconds), {
        description: 'When the waiting jobs will have been served; null when nothing was served lately.',
      }),
    }),
    { id: 'Full' },
  ),
};

const notFound: Response = {
  description: 'The function knows no such route: a fault of the deployment.',
  schema: documented(z.strictObject(members(['not_found'])), { id: 'NotFound' }),
};

const unknownJob: Response = {
  description: 'There is no such job; or the function knows no such route, which is a fault of the deployment.',
  schema: documented(z.strictObject(members(['unknown_job', 'not_found'])), { id: 'UnknownJob' }),
};

const internal: Response = {
  description: 'A fault of this service.',
  schema: documented(z.strictObject(members(['internal'])), { id: 'Internal' }),
};

const unavailable: Response = {
  description: 'The queue cannot be reached, or takes no more jobs.',
  headers: RETRY_AFTER,
  schema: documented(z.strictObject(members(['unavailable'])), { id: 'Unavailable' }),
};

/** What any call can be answered with: a query that it does not know is a fault as well. */
export const checkedCall = { 400: badRequest, 404: notFound, 500: internal, 503: unavailable } as const;

/** What a call that takes a body can be answered with. */
export const bodyCall = { ...checkedCall, 413: tooLarge, 415: mediaType } as const;

export const refusals = { tenantForbidden, unknownPlan, unknownName, full, recordChanged, unknownJob } as const;
