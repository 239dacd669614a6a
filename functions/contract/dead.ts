import * as z from 'zod/mini';
import * as examples from './job-examples.ts';
import { checkedCall, refusals } from './problem-schemas.ts';
import { route } from '../lib/lambda/route.ts';
import { count, documented, jobParams, pageQuery, pageSchema, storedJob, tenantParams, time } from './schemas.ts';

const letter = documented(
  z.extend(storedJob, {
    diedAt: time,
    error: documented(z.string(), { description: 'What its last attempt failed of.' }),
  }),
  { id: 'DeadLetter' },
);

export type DeadLetterBody = z.output<typeof letter>;

const dropped = {
  200: { description: 'How many were removed.', schema: z.strictObject({ tenant: z.string(), dropped: count }) },
};

const redriven = {
  200: {
    description:
      'How many wait again, and how many are still dead: those that the caps of the tenant have no room for.',
    schema: documented(z.strictObject({ tenant: z.string(), redriven: count, remaining: count }), { id: 'Redriven' }),
  },
};

const operated = { function: 'tenants', access: 'operate' } as const;
const REDRIVE =
  'A redriven job has all its attempts before it, goes to the tail, and keeps its id and the time of its enqueue. Caps hold as for an enqueue.';

export const listDead = route({
  ...operated,
  operationId: 'listDead',
  method: 'GET',
  path: '/v1/tenants/{tenant}/dead',
  summary: "List a tenant's dead letters, newest first",
  params: tenantParams,
  query: pageQuery(100),
  responses: { 200: { description: 'A page of dead letters.', schema: pageSchema('dead', letter) }, ...checkedCall },
  examples: examples.listDeadExamples,
});

export const dropAllDead = route({
  ...operated,
  operationId: 'dropAllDead',
  method: 'DELETE',
  path: '/v1/tenants/{tenant}/dead',
  summary: "Drop all of a tenant's dead letters",
  params: tenantParams,
  responses: { ...dropped, ...checkedCall },
  examples: examples.dropExamples,
});

export const dropDead = route({
  ...operated,
  operationId: 'dropDead',
  method: 'DELETE',
  path: '/v1/tenants/{tenant}/dead/{job}',
  summary: 'Drop a dead letter',
  params: jobParams,
  responses: { ...dropped, ...checkedCall, 404: refusals.unknownJob },
  examples: examples.dropOneExamples,
});

export const redriveAllDead = route({
  ...operated,
  operationId: 'redriveAllDead',
  method: 'POST',
  path: '/v1/tenants/{tenant}/dead/redrive',
  summary: "Put a tenant's dead letters back to wait, the oldest first",
  description: REDRIVE,
  params: tenantParams,
  responses: { ...redriven, ...checkedCall },
  examples: examples.redriveExamples,
});

export const redriveDead = route({
  ...operated,
  operationId: 'redriveDead',
  method: 'POST',
  path: '/v1/tenants/{tenant}/dead/{job}/redrive',
  summary: 'Put a dead letter back to wait',
  description: REDRIVE,
  params: jobParams,
  responses: { ...redriven, ...checkedCall, 404: refusals.unknownJob },
  examples: examples.redriveOneExamples,
});
