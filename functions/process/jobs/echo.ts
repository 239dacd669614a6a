import * as z from 'zod/mini';
import { defineJob } from './job.ts';

/** Succeeds, whatever its payload, and keeps nothing. */
export default defineJob(z.unknown(), async () => {});
