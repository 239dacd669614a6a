import type { ServiceRate } from './outcomes.ts';

const RETRY_LEAST_SECONDS = 1;
const RETRY_MOST_SECONDS = 3_600;
/** When the queue served nothing lately, and nobody can know. */
const RETRY_UNKNOWN_SECONDS = 60;

/**
 * Jobs per second that a tenant can count on: its own rate, else its weight's part of the queue's, and never more than it may
 * have; null when nothing was served lately.
 */
export function expectedRate({
  tenant,
  queue,
  weightShare,
  most = Number.POSITIVE_INFINITY,
}: ServiceRate): number | null {
  const share = queue === null ? 0 : queue * weightShare;
  const rate = Math.min(most, tenant !== null && tenant > 0 ? tenant : share);
  return rate > 0 ? rate : null;
}

/** Seconds until `jobs` will have been served at `rate` jobs per second, rounded up; null when the rate is not known. */
export function drainSeconds(jobs: number, rate: number | null): number | null {
  if (jobs === 0) return 0;
  return rate === null || rate <= 0 ? null : Math.ceil(jobs / rate);
}

/** Seconds, 1 to 3,600, until `jobs` will have been served; 60 when the rate is not known. */
export function retryAfterSeconds(jobs: number, rate: number | null): number {
  const seconds = drainSeconds(Math.max(0, jobs), rate) ?? RETRY_UNKNOWN_SECONDS;
  return Math.min(RETRY_MOST_SECONDS, Math.max(RETRY_LEAST_SECONDS, seconds));
}
