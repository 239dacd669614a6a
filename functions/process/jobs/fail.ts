import * as z from 'zod/mini';
import { defineJob } from './job.ts';

const payload = z.strictObject({ times: z.int().check(z.gte(0)) });

/** Fails in its first `times` attempts, then succeeds. */
export default defineJob(payload, async ({ attempt, payload: { times } }) => {
  if (attempt <= times) throw new Error(`attempt ${attempt} of ${times} that are to fail`);
});
