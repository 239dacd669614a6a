import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { defineJob } from './job.ts';

const payload = z.strictObject({ ms: z.number().check(z.gte(0), z.lte(900_000)) });

/** Takes `ms` milliseconds. */
export default defineJob(payload, async (job, { signal }) => {
  await delay(job.payload.ms, undefined, { signal });
});
