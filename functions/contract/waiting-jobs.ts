import * as z from 'zod/mini';
import { waitingJobsExamples } from './job-examples.ts';
import { checkedCall } from './problem-schemas.ts';
import { route } from '../lib/lambda/route.ts';
import { documented, pageQuery, pageSchema, storedJob, tenantParams, time, withDefault } from './schemas.ts';

const waitingJob = documented(
  z.extend(storedJob, {
    readyAt: documented(time, { description: 'When it became ready, or will.' }),
  }),
  { id: 'WaitingJob' },
);

export type WaitingJobBody = z.output<typeof waitingJob>;

export const listTenantJobs = route({
  operationId: 'listTenantJobs',
  method: 'GET',
  path: '/v1/tenants/{tenant}/jobs',
  function: 'tenants',
  access: 'operate',
  summary: 'Look at the waiting jobs of a tenant',
  description: 'They stay where they are. While jobs are served, those of the next page move up.',
  params: tenantParams,
  query: z.extend(pageQuery(100), {
    state: documented(withDefault(z.enum(['ready', 'delayed']), 'ready'), {
      description:
        '`ready`: in the order in which they will be served; `delayed`: in the order in which they come due.',
    }),
  }),
  responses: { 200: { description: 'A page of jobs.', schema: pageSchema('jobs', waitingJob) }, ...checkedCall },
  examples: waitingJobsExamples,
});
