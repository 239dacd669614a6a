import type { JobType } from './job.ts';

export { defineJob, type Job, type JobHandler, type JobType, PermanentFailure, RetryAfter } from './job.ts';

/** A module whose default export is what `defineJob` gives. */
export type JobModule = () => Promise<{ readonly default: JobType }>;

/**
 * The job types there are: one file and one line each. Loaded when the first job of the type comes, so that none pays in its
 * cold start for what another imports.
 */
export const jobs: Readonly<Record<string, JobModule>> = {
  echo: () => import('./echo.ts'),
  sleep: () => import('./sleep.ts'),
  fail: () => import('./fail.ts'),
  webhook: () => import('./webhook.ts'),
};
