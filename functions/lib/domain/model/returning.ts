/** The ways on which a job that was taken comes back: to its old place, to wait for a retry, or to the dead. */
import { place, refund } from './order.ts';
import type { Model, ModelJob, ModelLease, ModelTenant } from './state.ts';

/** Puts jobs back before the backlog, each at the place it had among those that came back. */
export function putBack(tenant: ModelTenant, jobs: readonly ModelJob[]): void {
  tenant.returned.push(...jobs);
  tenant.returned.sort((a, b) => a.sequence - b.sequence);
}

/** Undoes the claim of jobs that were never started: no attempt used, charge refunded. */
export function giveBack(
  model: Model,
  tenant: ModelTenant,
  lease: ModelLease,
  jobs: readonly ModelJob[],
  nowMs: number,
): void {
  if (jobs.length === 0) return;
  putBack(tenant, jobs);
  refund(model, tenant, lease, jobs, nowMs);
}

export function delay(tenant: ModelTenant, job: ModelJob, dueMs: number): void {
  tenant.delayed.push({ dueMs, job });
  tenant.delayed.sort((a, b) => a.dueMs - b.dueMs || a.job.sequence - b.job.sequence);
}

/** Lets a job wait for its retry, or die of its last attempt. */
export function fail(model: Model, tenant: ModelTenant, job: ModelJob, dueMs: number): void {
  job.attempts += 1;
  if (job.attempts >= job.maxAttempts) return bury(model, tenant, job);
  job.alone = false;
  job.retry = true;
  delay(tenant, job, dueMs);
}

/** Cuts a started job short: an attempt is used, and it goes back to its place while it has more. */
export function interrupt(model: Model, tenant: ModelTenant, job: ModelJob): void {
  job.attempts += 1;
  if (job.attempts >= job.maxAttempts) bury(model, tenant, job);
  else putBack(tenant, [job]);
}

/** Adds a job to the dead letters; beyond their cap the oldest is dropped. */
export function bury(model: Model, tenant: ModelTenant, job: ModelJob): void {
  model.counted.died += 1;
  tenant.dead.unshift(job);
  model.counted.dropped += tenant.dead.splice(model.config.deadLetters).length;
}

/** Ends an unopened lease: as if its visit had never been claimed. */
export function undo(model: Model, tenant: ModelTenant, lease: ModelLease, nowMs: number): void {
  model.leases.delete(lease.leaseId);
  giveBack(
    model,
    tenant,
    lease,
    lease.jobs.filter((job) => job !== null),
    nowMs,
  );
  place(model, tenant, nowMs);
}
