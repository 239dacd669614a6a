/** What happens to a queue besides its jobs' own life: the tick, the configuration, billing's and the operator's word. */
import type { PurgeReceipt } from '../outcomes.ts';
import { closeBusyPeriod, place, reweigh, turnOf } from './order.ts';
import { isFilled } from './meter.ts';
import { interrupt, putBack, undo } from './returning.ts';
import {
  depthOf,
  flightOf,
  leasesOf,
  type Model,
  type ModelConfig,
  type ModelLease,
  type ModelTenant,
  readyCount,
  type TenantRecord,
  tenantOf,
  unsettled,
} from './state.ts';

/** Most leases of each kind that one tick reaps. */
const REAP_SLICE = 20;

interface ModelTicked {
  lapsed: number;
  crashed: number;
  promoted: number;
  released: number;
  purged: string[];
}

/** Ends what has run out of time, lets in what is due, forgets who is gone. */
export function tick(model: Model, nowMs: number): ModelTicked {
  const lapsed = endedLeases(model, nowMs, false);
  for (const lease of lapsed) undo(model, tenantOf(model, lease.tenant), lease, nowMs);
  const crashed = endedLeases(model, nowMs, true);
  for (const lease of crashed) recover(model, tenantOf(model, lease.tenant), lease, nowMs);
  model.counted.lapsed += lapsed.length;
  model.counted.crashed += crashed.length;
  const promoted = promote(model, nowMs);
  const released = letBackIn(model, nowMs);
  const purged = purgeIdle(model, nowMs);
  for (const answers of model.once.values()) {
    for (const [key, answer] of answers) if (answer.expiresAtMs <= nowMs) answers.delete(key);
  }
  closeBusyPeriod(model);
  noteIdle(model, nowMs);
  return { lapsed: lapsed.length, crashed: crashed.length, promoted, released, purged };
}

function endedLeases(model: Model, nowMs: number, opened: boolean): ModelLease[] {
  return [...model.leases.values()]
    .filter((lease) => (lease.nonce !== null) === opened && lease.endsAtMs <= nowMs)
    .toSorted((a, b) => a.endsAtMs - b.endsAtMs || byBytes(a.leaseId, b.leaseId))
    .slice(0, REAP_SLICE);
}

/** The worker died. Each job is visited alone from now on, and only a job that was alone has used an attempt. */
function recover(model: Model, tenant: ModelTenant, lease: ModelLease, nowMs: number): void {
  model.leases.delete(lease.leaseId);
  const jobs = unsettled(lease);
  for (const job of jobs) job.alone = true;
  const [only] = jobs;
  if (only && jobs.length === 1) interrupt(model, tenant, only);
  else putBack(tenant, jobs);
  place(model, tenant, nowMs);
}

const due = (tenant: ModelTenant) => tenant.delayed[0]?.dueMs ?? Number.POSITIVE_INFINITY;
const lookAt = (tenant: ModelTenant) => tenant.lookAgainAtMs ?? Number.POSITIVE_INFINITY;

function promote(model: Model, nowMs: number): number {
  const tenants = [...model.tenants.values()]
    .filter((tenant) => due(tenant) <= nowMs)
    .toSorted((a, b) => due(a) - due(b) || byBytes(a.name, b.name));
  let promoted = 0;
  for (const tenant of tenants) {
    while (due(tenant) <= nowMs) {
      const next = tenant.delayed.shift();
      if (!next) break;
      promoted += 1;
      next.job.readySinceMs = next.dueMs;
      if (next.job.retry) {
        next.job.retry = false;
        putBack(tenant, [next.job]);
      } else {
        next.job.sequence = ++model.sequence;
        tenant.ready.push(next.job);
      }
    }
    place(model, tenant, nowMs);
  }
  return promoted;
}

function letBackIn(model: Model, nowMs: number): number {
  const tenants = [...model.tenants.values()]
    .filter((tenant) => lookAt(tenant) <= nowMs)
    .toSorted((a, b) => lookAt(a) - lookAt(b) || byBytes(a.name, b.name));
  const outside = tenants.filter((tenant) => tenant.position === 0);
  for (const tenant of tenants) {
    if (tenant.backoffUntilMs !== null && tenant.backoffUntilMs <= nowMs) tenant.backoffUntilMs = null;
    tenant.lookAgainAtMs = null;
    place(model, tenant, nowMs);
  }
  return outside.filter((tenant) => tenant.position > 0).length;
}

function purgeIdle(model: Model, nowMs: number): string[] {
  const purged: string[] = [];
  for (const tenant of model.tenants.values()) {
    if (tenant.purgeAtMs === null || tenant.purgeAtMs > nowMs) continue;
    // What is ahead of the clock or of its rate would be forgiven by forgetting it.
    if (turnOf(model, tenant) > model.virtualClock || isFilled(model, tenant, nowMs))
      tenant.purgeAtMs = nowMs + model.config.purgeMs;
    else {
      model.tenants.delete(tenant.name);
      purged.push(tenant.name);
    }
  }
  return purged;
}

/** Sets the time at which a tenant may be forgotten, from when nothing of it is left. */
export function noteIdle(model: Model, nowMs: number): void {
  for (const tenant of model.tenants.values()) {
    const recorded = tenant.paused || Object.values(tenant.record).some((value) => value !== undefined);
    const idle = depthOf(tenant) + tenant.dead.length + flightOf(model, tenant) === 0 && !recorded;
    tenant.purgeAtMs = idle ? (tenant.purgeAtMs ?? nowMs + model.config.purgeMs) : null;
  }
}

/** Takes a configuration unless a newer one is in force. */
export function configure(model: Model, config: ModelConfig): 'configured' | 'kept' {
  if (config.version < model.config.version) return 'kept';
  model.config = config;
  return 'configured';
}

/** Replaces a tenant's subscription record; it holds for the backlog at once. */
export function subscribe(
  model: Model,
  name: string,
  record: TenantRecord,
  nowMs: number,
): { outcome: 'subscribed' } | { outcome: 'unknown_plan'; plans: string[] } {
  const plans = Object.keys(model.config.plans);
  if (record.plan !== undefined && !plans.includes(record.plan)) return { outcome: 'unknown_plan', plans };
  const tenant = tenantOf(model, name);
  tenant.record = record;
  reweigh(model, tenant);
  place(model, tenant, nowMs);
  noteIdle(model, nowMs);
  return { outcome: 'subscribed' };
}

/** Stops or resumes a tenant; what is in flight goes on. */
export function setPaused(model: Model, name: string, paused: boolean, nowMs: number): void {
  const tenant = tenantOf(model, name);
  tenant.paused = paused;
  place(model, tenant, nowMs);
  noteIdle(model, nowMs);
}

/** Removes a tenant with all that is its own, or its waiting jobs only. */
export function purge(model: Model, name: string, scope: 'everything' | 'jobs', nowMs: number): PurgeReceipt {
  const tenant = tenantOf(model, name);
  const everything = scope === 'everything';
  const receipt = {
    ready: readyCount(tenant),
    delayed: tenant.delayed.length,
    inFlight: everything ? flightOf(model, tenant) : 0,
    dead: everything ? tenant.dead.length : 0,
  };
  if (everything) {
    for (const lease of leasesOf(model, tenant)) model.leases.delete(lease.leaseId);
    model.tenants.delete(name);
    model.once.delete(name);
  } else {
    for (const jobs of [tenant.ready, tenant.returned, tenant.delayed]) jobs.splice(0);
    place(model, tenant, nowMs);
  }
  closeBusyPeriod(model);
  noteIdle(model, nowMs);
  return receipt;
}

/** Order of Redis's sorted sets among equal scores. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
