/** What operators do about jobs that have died, and about the queue as a whole. */
import { refuse } from './admission.ts';
import { place, reweigh } from './order.ts';
import { limitsOf, type Model } from './state.ts';
import { noteIdle } from './upkeep.ts';

/** Removes one of the tenant's dead letters, or all; returns how many that were. */
export function dropDead(model: Model, name: string, id: string | undefined, nowMs: number): number {
  const tenant = model.tenants.get(name);
  if (!tenant) return 0;
  const before = tenant.dead.length;
  const left = tenant.dead.filter((job) => id !== undefined && job.id !== id);
  tenant.dead.splice(0, before, ...left);
  noteIdle(model, nowMs);
  return before - left.length;
}

/**
 * Puts dead letters back to wait, one or from the oldest on as many as the caps allow: new jobs at the tail, but for their ids and
 * the time of their enqueue. Null when there is none of that id.
 */
export function redrive(
  model: Model,
  name: string,
  id: string | undefined,
  nowMs: number,
): { redriven: number; remaining: number } | null {
  const tenant = model.tenants.get(name);
  if (!tenant) return id === undefined ? { redriven: 0, remaining: 0 } : null;
  const wanted = tenant.dead.filter((job) => id === undefined || job.id === id).toReversed();
  if (id !== undefined && wanted.length === 0) return null;
  const room = refuse(model, tenant, limitsOf(model.config, tenant), wanted)?.room ?? wanted.length;
  const jobs = wanted.slice(0, room);
  for (const job of jobs) {
    tenant.dead.splice(tenant.dead.indexOf(job), 1);
    Object.assign(job, { attempts: 0, alone: false, retry: false, readySinceMs: nowMs, sequence: ++model.sequence });
    tenant.ready.push(job);
  }
  if (jobs.length > 0) {
    reweigh(model, tenant);
    place(model, tenant, nowMs);
  }
  noteIdle(model, nowMs);
  return { redriven: jobs.length, remaining: tenant.dead.length };
}

/** The operator's word on the whole queue; what is not given stays as it is. */
export function steer(
  model: Model,
  { paused, capacity }: { paused?: boolean | undefined; capacity?: number | null | undefined },
): void {
  if (paused !== undefined) model.paused = paused;
  if (capacity !== undefined) model.capacity = capacity;
}
