/**
 * The fair order of a queue: whose jobs are taken next, and how many.
 *
 * **Start-time fair queueing** (P. Goyal, H. M. Vin, H. Cheng, "Start-time Fair Queueing", IEEE/ACM ToN 5(5), 1997) over
 * tenants instead of packet flows. The queue has a virtual clock V. Each tenant has a turn: the service it was given, in
 * cost per unit of weight, on that clock.
 *
 * 1. *Rotation.* A tenant is in the rotation exactly while it has ready jobs and nothing holds it back: it is not paused,
 *    not at its maxConcurrency, not without a token of its rate, not backing off.
 * 2. *Enter.* Its turn becomes max(V, its own turn). Time away earns nothing; having left early forgives nothing. A tenant
 *    that is in the rotation is not moved by more jobs.
 * 3. *Select.* The lowest turn is next. Equal turns: the one whose entry or visit is longest ago. V becomes that turn
 *    unless it is beyond it already, so that V never falls while there is work.
 * 4. *Visit.* Jobs leave the head of the tenant's line while their cost fits in quantum × weight, at least one, and never
 *    more than the bounds of `visitBound` allow. What a visit takes depends on the budget alone and not on what was left
 *    over before, which makes it the round of deficit round robin (M. Shreedhar, G. Varghese, "Efficient Fair Queueing
 *    using Deficit Round Robin", IEEE/ACM ToN 4(3), 1996) without a deficit to carry: the unused part of a budget is
 *    simply not charged.
 * 5. *Charge.* The turn grows by the cost taken ÷ weight. Jobs that are given back unstarted are refunded as they were
 *    charged, at the weight of that visit.
 * 6. *Weights* may change at any time: what a tenant's turn is ahead of V is then stretched by old ÷ new weight.
 * 7. *Busy period.* When nothing waits and nothing is in flight, V and every turn start again from 0.
 *
 * What follows from it, for c = quantum + the largest cost ÷ weight of a tenant (proven by the unit tests of this model):
 * two tenants that have ready jobs throughout an interval differ in service ÷ weight by at most c₁ + c₂ over it; a tenant
 * that enters with nothing to its account waits for at most one visit of every other; no slot stays free while a tenant
 * could be served.
 *
 * Numbers are doubles; only + − × ÷, floor, ceil, min, max and comparison touch them, in an order that the scripts keep,
 * so that a turn here and in Redis is the same to the last bit.
 */
import { fill, limit, spendsToken, tokensOf } from './meter.ts';
import {
  capacityOf,
  lanesOf,
  limitsOf,
  type Model,
  type ModelJob,
  type ModelLease,
  type ModelTenant,
  readyCount,
} from './state.ts';

/** Most bytes of bodies in a visit: what an invocation can hold and a reply should carry. */
const VISIT_BYTES = 4 * 1024 * 1024;
/** Most jobs in a visit. */
const VISIT_JOBS = 1_000;
/** A lease that is unopened for longer counts against `unopenedLimit`. */
const UNOPENED_AFTER_MS = 2_000;
/** How often a tenant is looked at whose maxConcurrency is 0 and that nothing else would bring back. */
const LOOK_AGAIN_MS = 300_000;

export type Refusal = 'paused' | 'unopened' | 'no_capacity' | 'empty';

/** The turn on the clock of this busy period. */
export function turnOf(model: Model, tenant: ModelTenant): number {
  return tenant.epoch === model.epoch ? tenant.turn : 0;
}

export function rotationOf(model: Model): ModelTenant[] {
  return [...model.tenants.values()]
    .filter((tenant) => tenant.position > 0)
    .toSorted((a, b) => a.turn - b.turn || a.position - b.position);
}

/** Lets a tenant into the rotation or takes it out, after anything that may have changed whether it can be served. */
export function place(model: Model, tenant: ModelTenant, nowMs: number): void {
  const lanes = lanesOf(model, tenant);
  tenant.capped = lanes >= limitsOf(model.config, tenant).maxConcurrency;
  const lookAtMeterMs = limit(model, tenant, nowMs);
  if (lookAtMeterMs !== null && tenant.backoffUntilMs === null) tenant.lookAgainAtMs = lookAtMeterMs;
  const held = tenant.paused || tenant.capped || tenant.limited || tenant.backoffUntilMs !== null;
  const belongs = readyCount(tenant) > 0 && !held;
  if (belongs && tenant.position === 0) {
    tenant.turn = Math.max(model.virtualClock, turnOf(model, tenant));
    tenant.epoch = model.epoch;
    tenant.position = ++model.sequence;
  }
  if (!belongs) tenant.position = 0;
  const cappedAlone = tenant.capped && !tenant.paused && !tenant.limited && tenant.backoffUntilMs === null;
  if (cappedAlone && lanes === 0 && readyCount(tenant) > 0) tenant.lookAgainAtMs = nowMs + LOOK_AGAIN_MS;
}

/** Makes the weight in force the one its turn is reckoned with. */
export function reweigh(model: Model, tenant: ModelTenant): void {
  const { weight } = limitsOf(model.config, tenant);
  const ahead = turnOf(model, tenant) - model.virtualClock;
  if (tenant.weight !== null && tenant.weight !== weight && ahead > 0) {
    tenant.turn = model.virtualClock + (ahead * tenant.weight) / weight;
  }
  tenant.weight = weight;
}

/** The tenant to visit next, or why none is. V follows its turn. */
export function select(model: Model, nowMs: number, chained: boolean): ModelTenant | Refusal {
  if (model.paused) return 'paused';
  if (model.leases.size >= capacityOf(model)) return 'no_capacity';
  if (!chained && unopenedTooLong(model, nowMs) > model.config.unopenedLimit) return 'unopened';
  for (;;) {
    const [first] = rotationOf(model);
    if (!first) return 'empty';
    // A plan's new maxConcurrency reaches its tenants at their turn, not when the configuration changes.
    place(model, first, nowMs);
    if (first.position === 0) continue;
    model.virtualClock = Math.max(model.virtualClock, first.turn);
    return first;
  }
}

function unopenedTooLong(model: Model, nowMs: number): number {
  const old = (lease: ModelLease) => lease.endsAtMs - model.config.openMs < nowMs - UNOPENED_AFTER_MS;
  return [...model.leases.values()].filter((lease) => lease.nonce === null && old(lease)).length;
}

/** Most jobs of a visit of `lanes` lanes: short enough to come round again soon, small enough to use the free slots. */
function visitBound(model: Model, tenant: ModelTenant, lanes: number): number {
  const { config } = model;
  const p95 = tenant.p95Ms;
  if (p95 === null) return 1;
  const free = capacityOf(model) - model.leases.size;
  const servable = rotationOf(model).reduce((sum, other) => sum + readyCount(other), 0);
  const share = Math.ceil(servable / free);
  const length = p95 > config.maxVisitMs ? 1 : Math.floor((config.maxVisitMs * lanes) / Math.max(p95, 1));
  return Math.max(1, Math.min(length, Math.max(share, quickJobs(p95, lanes, config.spreadMs)), VISIT_JOBS));
}

/** The largest number of jobs expected to take less than `spreadMs` together. */
function quickJobs(p95: number, lanes: number, spreadMs: number): number {
  if (p95 >= spreadMs) return 0;
  const whole = Math.floor((spreadMs * lanes) / Math.max(p95, 1));
  return Math.max(lanes, (p95 * whole) / lanes >= spreadMs ? whole - 1 : whole);
}

/** Takes the jobs of a visit, leases them under the given name and charges them. */
export function visit(
  model: Model,
  tenant: ModelTenant,
  nowMs: number,
  lease: Pick<ModelLease, 'leaseId' | 'token' | 'previousToken' | 'visit' | 'nonce' | 'endsAtMs'>,
): ModelLease {
  reweigh(model, tenant);
  const { weight, maxConcurrency } = limitsOf(model.config, tenant);
  const room = maxConcurrency - lanesOf(model, tenant);
  const lanes = Math.max(1, Math.min(model.config.visitConcurrency, room));
  const bounds = {
    most: visitBound(model, tenant, lanes),
    budget: model.config.quantum * weight,
    tokens: tokensOf(model, tenant, nowMs),
  };
  const jobs = take(tenant, bounds);
  const made = {
    ...lease,
    tenant: tenant.name,
    weight,
    epoch: model.epoch,
    lanes: Math.min(lanes, jobs.length),
    jobs: [...jobs],
    refusedAtClaim: tenant.refused,
  };
  model.leases.set(made.leaseId, made);
  fill(model, tenant, jobs.filter(spendsToken).length, nowMs);
  tenant.turn += costOf(jobs) / weight;
  tenant.served += jobs.length;
  model.counted.served += jobs.length;
  tenant.position = ++model.sequence;
  place(model, tenant, nowMs);
  return made;
}

function take(tenant: ModelTenant, { most, budget, tokens }: Record<'most' | 'budget' | 'tokens', number>): ModelJob[] {
  const line = [...tenant.returned, ...tenant.ready.slice(0, most)];
  const jobs: ModelJob[] = [];
  let cost = 0;
  let bytes = 0;
  for (const job of line) {
    const [first] = jobs;
    if (first) {
      if (jobs.length >= most || job.route !== first.route || job.alone || first.alone) break;
      if (cost + job.cost > budget || bytes + job.bytes > VISIT_BYTES) break;
      if (spendsToken(job) && jobs.filter(spendsToken).length >= tokens) break;
    }
    jobs.push(job);
    cost += job.cost;
    bytes += job.bytes;
  }
  const back = Math.min(jobs.length, tenant.returned.length);
  tenant.returned.splice(0, back);
  tenant.ready.splice(0, jobs.length - back);
  return jobs;
}

function costOf(jobs: readonly ModelJob[]): number {
  return jobs.reduce((sum, job) => sum + job.cost, 0);
}

/** Takes back the charge of jobs that were not started. The tenant keeps its place among equals. */
export function refund(
  model: Model,
  tenant: ModelTenant,
  lease: ModelLease,
  jobs: readonly ModelJob[],
  nowMs: number,
): void {
  fill(model, tenant, -jobs.filter(spendsToken).length, nowMs);
  if (lease.epoch === model.epoch) tenant.turn -= costOf(jobs) / lease.weight;
  tenant.served -= jobs.length;
  model.counted.served -= jobs.length;
}

/** Lets a duration into the tenant's 95th percentile and mean. The percentile rises 19 times as fast as it falls. */
export function learn(tenant: ModelTenant, durationMs: number): void {
  const { p95Ms: p95, meanMs: mean } = tenant;
  if (p95 === null) tenant.p95Ms = durationMs;
  else if (durationMs > p95) tenant.p95Ms = p95 + Math.max((durationMs - p95) / 4, p95 / 8);
  else tenant.p95Ms = p95 - p95 / 152;
  tenant.meanMs = mean === null ? durationMs : mean + (durationMs - mean) / 16;
  tenant.workedMs += durationMs;
}

/** Ends the busy period when nothing is left to do: the clock and every turn start again from 0. */
export function closeBusyPeriod(model: Model): void {
  const tenants = [...model.tenants.values()];
  const work = model.leases.size > 0 || tenants.some((tenant) => readyCount(tenant) > 0 || tenant.delayed.length > 0);
  const used = model.virtualClock !== 0 || tenants.some((tenant) => turnOf(model, tenant) !== 0);
  if (work || !used) return;
  model.epoch += 1;
  model.virtualClock = 0;
}
