/**
 * The life of a job: enqueue → claim → open → settle, and the ways back. Each function is one script: it changes the
 * model as that script changes Redis and answers in the same words. `nowMs` is the script's clock.
 */
import type { Cap, ClaimOutcome, JobResult } from '../outcomes.ts';
import { refuse } from './admission.ts';
import { closeBusyPeriod, learn, place, type Refusal, reweigh, rotationOf, select, visit } from './order.ts';
import { bury, delay, fail, giveBack, interrupt, undo } from './returning.ts';
import {
  capacityOf,
  depthOf,
  flightOf,
  limitsOf,
  type Model,
  type ModelJob,
  type ModelLease,
  type ModelTenant,
  tenantOf,
  unsettled,
} from './state.ts';
import { noteIdle } from './upkeep.ts';

interface ModelNewJob {
  readonly id: string;
  readonly cost: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly bytes: number;
  readonly route?: number;
}

interface ModelEnqueue {
  readonly tenant: string;
  readonly claimPlan?: string | undefined;
  /** Idempotency key and a digest of what is asked with it. */
  readonly once?: { readonly key: string; readonly digest: string } | undefined;
  readonly jobs: readonly ModelNewJob[];
}

export type ModelEnqueued =
  | { outcome: 'accepted' | 'repeated'; ids: string[]; depth: number }
  | { outcome: 'conflict' }
  | { outcome: 'full'; cap: Cap; limit: number; room: number }
  | { outcome: 'unknown_plan'; plans: string[] };

/** What names a lease; the caller makes it up, or reads it from the queue that the model follows. */
type LeaseName = Pick<ModelLease, 'leaseId' | 'token'>;

/** Admits all of the jobs or none. A refusal leaves no trace. */
export function enqueue(model: Model, request: ModelEnqueue, nowMs: number): ModelEnqueued {
  const answered = request.once && model.once.get(request.tenant)?.get(request.once.key);
  if (answered && answered.expiresAtMs > nowMs) {
    if (answered.digest !== request.once?.digest) return { outcome: 'conflict' };
    return { outcome: 'repeated', ids: answered.ids, depth: answered.depth };
  }
  const plans = Object.keys(model.config.plans);
  if (request.claimPlan !== undefined && !plans.includes(request.claimPlan)) return { outcome: 'unknown_plan', plans };
  const known = model.tenants.get(request.tenant);
  const claimPlan = request.claimPlan ?? known?.claimPlan;
  const limits = limitsOf(model.config, { record: known?.record ?? {}, claimPlan });
  const refusal = refuse(model, known, limits, request.jobs);
  if (refusal) return { outcome: 'full', ...refusal };
  const depth = (known ? depthOf(known) : 0) + request.jobs.length;

  const tenant = tenantOf(model, request.tenant);
  tenant.claimPlan = claimPlan;
  reweigh(model, tenant);
  for (const job of request.jobs) push(model, tenant, job, nowMs);
  tenant.enqueued += request.jobs.length;
  model.counted.enqueued += request.jobs.length;
  place(model, tenant, nowMs);
  const ids = request.jobs.map((job) => job.id);
  if (request.once) {
    const answers = model.once.get(request.tenant) ?? new Map();
    const expiresAtMs = nowMs + model.config.idempotencyMs;
    model.once.set(request.tenant, answers.set(request.once.key, { ...request.once, ids, depth, expiresAtMs }));
  }
  finish(model, nowMs);
  return { outcome: 'accepted', ids, depth };
}

function push(model: Model, tenant: ModelTenant, job: ModelNewJob, nowMs: number): void {
  const { delayMs, route = 0, ...rest } = job;
  const sequence = ++model.sequence;
  const readySinceMs = nowMs + delayMs;
  const made = { ...rest, route, sequence, enqueuedAtMs: nowMs, readySinceMs, attempts: 0, alone: false, retry: false };
  if (delayMs > 0) delay(tenant, made, nowMs + delayMs);
  else tenant.ready.push(made);
}

/** Claims up to `max` visits, one after another: each sees what the one before it left. */
export function claim(
  model: Model,
  max: number,
  nowMs: number,
  name: (place: number) => LeaseName,
): { outcome: ClaimOutcome['outcome']; visits: ModelLease[] } {
  const visits: ModelLease[] = [];
  let refusal: Refusal | undefined;
  while (visits.length < max && refusal === undefined) {
    const tenant = select(model, nowMs, false);
    if (typeof tenant === 'string') refusal = tenant;
    else {
      const endsAtMs = nowMs + model.config.openMs;
      visits.push(
        visit(model, tenant, nowMs, { ...name(visits.length), previousToken: null, visit: 1, nonce: null, endsAtMs }),
      );
    }
  }
  finish(model, nowMs);
  return { outcome: visits.length > 0 || refusal === undefined ? 'claimed' : refusal, visits };
}

/** Opens a lease once. The same nonce is told the same again, with a full lease from then on. */
export function open(
  model: Model,
  lease: LeaseName,
  nonce: string,
  nowMs: number,
): { outcome: 'opened'; lease: ModelLease } | { outcome: 'already_open' | 'gone' } {
  const found = leaseOf(model, lease);
  if (!found) return { outcome: 'gone' };
  if (found.nonce !== null && found.nonce !== nonce) return { outcome: 'already_open' };
  if (found.nonce === null && found.refusedAtClaim > 0) tenantOf(model, found.tenant).refused = 0;
  found.nonce = nonce;
  found.endsAtMs = nowMs + model.config.leaseMs;
  return { outcome: 'opened', lease: found };
}

/** Renews an open lease. */
export function extend(
  model: Model,
  lease: LeaseName,
  nowMs: number,
): { outcome: 'extended'; expiresAtMs: number; yield: boolean } | { outcome: 'stale' } {
  const found = leaseOf(model, lease);
  if (!found || found.nonce === null) return { outcome: 'stale' };
  found.endsAtMs = nowMs + model.config.leaseMs;
  return { outcome: 'extended', expiresAtMs: found.endsAtMs, yield: shouldYield(model) };
}

export type ModelSettled =
  | { outcome: 'settled'; left: number; yield: boolean }
  | { outcome: 'ended' | 'stale' }
  | { outcome: 'continued'; lease: ModelLease };

/**
 * Reports jobs of a visit by index. When none is left the visit is over, and with `next` the same lease goes on with the
 * next visit of the order. Jobs that come back do so after that, so that a visit that yields is not chosen again for
 * having been refunded.
 */
export function settle(
  model: Model,
  lease: LeaseName,
  results: readonly JobResult[],
  nowMs: number,
  next?: LeaseName,
): ModelSettled {
  const held = leaseOf(model, lease);
  const successor = model.leases.get(lease.leaseId);
  if (successor?.previousToken === lease.token) {
    // The answer to the settle that ended the visit before was lost: it is given again.
    successor.endsAtMs = nowMs + model.config.leaseMs;
    return { outcome: 'continued', lease: successor };
  }
  if (!held || held.nonce === null) {
    model.counted.late += 1;
    return { outcome: 'stale' };
  }
  const tenant = tenantOf(model, held.tenant);
  const unstarted: ModelJob[] = [];
  const cutShort: ModelJob[] = [];
  for (const result of results) {
    const job = held.jobs[result.index - 1];
    if (!job) continue;
    held.jobs[result.index - 1] = null;
    if (result.result === 'given_back') unstarted.push(job);
    else if (record(model, tenant, job, result, nowMs) === 'comes back') cutShort.push(job);
  }
  const left = unsettled(held).length;
  let continued: ModelLease | undefined;
  if (left === 0) {
    model.leases.delete(held.leaseId);
    place(model, tenant, nowMs);
    if (next) continued = proceed(model, held, next, nowMs);
  }
  giveBack(model, tenant, held, unstarted, nowMs);
  for (const job of cutShort) {
    job.alone = false;
    interrupt(model, tenant, job);
  }
  place(model, tenant, nowMs);
  finish(model, nowMs);
  if (continued) return { outcome: 'continued', lease: continued };
  return left === 0 ? { outcome: 'ended' } : { outcome: 'settled', left, yield: shouldYield(model) };
}

/** Takes the result of a job that was started; whether it goes on to a place of its own or comes back is the answer. */
function record(
  model: Model,
  tenant: ModelTenant,
  job: ModelJob,
  result: Exclude<JobResult, { result: 'given_back' }>,
  nowMs: number,
): 'gone' | 'comes back' {
  learn(tenant, result.durationMs);
  const counted = result.result === 'done' ? 'done' : 'failed';
  tenant[counted] += 1;
  model.counted[counted] += 1;
  if (result.result === 'failed') fail(model, tenant, job, nowMs + result.retryDelayMs);
  if (result.result === 'dead') {
    job.attempts += 1;
    bury(model, tenant, job);
  }
  return result.result === 'unfinished' ? 'comes back' : 'gone';
}

function proceed(model: Model, ended: ModelLease, name: LeaseName, nowMs: number): ModelLease | undefined {
  const tenant = select(model, nowMs, true);
  if (typeof tenant === 'string') return undefined;
  const endsAtMs = nowMs + model.config.leaseMs;
  const { token: previousToken, nonce } = ended;
  return visit(model, tenant, nowMs, { ...name, previousToken, visit: ended.visit + 1, nonce, endsAtMs });
}

/** A slot should be made free: none is, and the tenant at the head has nothing in flight. */
function shouldYield(model: Model): boolean {
  const [first] = rotationOf(model);
  if (!first || model.paused || model.leases.size < capacityOf(model)) return false;
  return flightOf(model, first) === 0;
}

/** Gives an unopened visit back, whose invoke was refused. After three in a row its tenant is left alone for a while. */
export function release(
  model: Model,
  lease: LeaseName,
  nowMs: number,
): { outcome: 'released'; refusals: number } | { outcome: 'stale' } {
  const found = leaseOf(model, lease);
  if (!found || found.nonce !== null) return { outcome: 'stale' };
  const tenant = tenantOf(model, found.tenant);
  tenant.refused += 1;
  const { refused } = tenant;
  if (refused >= 3) {
    tenant.backoffUntilMs = nowMs + Math.min(60_000, 1_000 * 2 ** (refused - 3));
    tenant.lookAgainAtMs = tenant.backoffUntilMs;
  }
  undo(model, tenant, found, nowMs);
  finish(model, nowMs);
  return { outcome: 'released', refusals: refused };
}

function leaseOf(model: Model, lease: LeaseName): ModelLease | undefined {
  const found = model.leases.get(lease.leaseId);
  return found?.token === lease.token ? found : undefined;
}

function finish(model: Model, nowMs: number): void {
  closeBusyPeriod(model);
  noteIdle(model, nowMs);
}
