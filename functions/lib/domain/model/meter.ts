/**
 * The meter of a tenant's rate. Each job that is served for the first time fills it by one; it drains by maxJobsPerSecond. The
 * generic cell rate algorithm as a leaky bucket (ITU-T I.371, annex A): a changed rate or burst leaves the level as it is.
 */
import { limitsOf, type Model, type ModelJob, type ModelTenant, readyCount } from './state.ts';

/** A tenant may be looked at this often though its meter says later: a deploy may have raised the rate. */
const LOOK_AGAIN_MS = 300_000;

function levelOf(tenant: ModelTenant, rate: number, nowMs: number): number {
  return Math.max(0, tenant.level - ((nowMs - tenant.levelAtMs) * rate) / 1000);
}

/** A job spends a token once: not as a retry, and not after the worker that had it was lost. */
export const spendsToken = (job: ModelJob): boolean => job.attempts === 0 && !job.alone;

/** How many jobs may be served for the first time now. */
export function tokensOf(model: Model, tenant: ModelTenant, nowMs: number): number {
  const { maxJobsPerSecond: rate, burst } = limitsOf(model.config, tenant);
  return rate === null ? Number.POSITIVE_INFINITY : Math.floor(burst - levelOf(tenant, rate, nowMs));
}

/** Counts jobs, or takes them back: the tokens of jobs that were not started. */
export function fill(model: Model, tenant: ModelTenant, jobs: number, nowMs: number): void {
  const { maxJobsPerSecond: rate } = limitsOf(model.config, tenant);
  if (rate === null) return;
  tenant.level = Math.max(0, levelOf(tenant, rate, nowMs) + jobs);
  tenant.levelAtMs = nowMs;
}

/** Whether forgetting the tenant would forgive it something. */
export function isFilled(model: Model, tenant: ModelTenant, nowMs: number): boolean {
  const { maxJobsPerSecond: rate } = limitsOf(model.config, tenant);
  return rate !== null && levelOf(tenant, rate, nowMs) > 0;
}

/**
 * Holds the tenant while it is without a token, and once held until those of a visit are there, or of a second if these are
 * fewer. Returns when to look again; null when it is not held.
 */
export function limit(model: Model, tenant: ModelTenant, nowMs: number): number | null {
  const { maxJobsPerSecond: rate, burst, weight } = limitsOf(model.config, tenant);
  if (rate === null || readyCount(tenant) === 0) {
    tenant.limited = false;
    return null;
  }
  const level = levelOf(tenant, rate, nowMs);
  const awaited = Math.max(1, Math.min(burst, Math.floor(model.config.quantum * weight), Math.floor(rate)));
  tenant.limited = level > burst - (tenant.limited ? awaited : 1);
  if (!tenant.limited) return null;
  const lackMs = Math.ceil((Math.max(0, level - (burst - awaited)) * 1000) / rate);
  return Math.min(nowMs + LOOK_AGAIN_MS, nowMs + lackMs);
}
