import { rotationOf, turnOf } from '../../functions/lib/domain/model/order.ts';
import type { Model, ModelJob, ModelTenant } from '../../functions/lib/domain/model/state.ts';
import type { PeekedTenant } from './peek.ts';
import type { QueueState, StoredJob } from './queue-state.ts';

/**
 * Where a queue in Redis is not what the model says, in words. `aheadMs` is how far the model's clock is ahead of Redis's,
 * whose stored times were moved back instead. Doubles of the fair order must agree to the last bit.
 */
export function differences(model: Model, state: QueueState, aheadMs: number): string[] {
  const found: string[] = [];
  const same = (what: string, redis: unknown, modelled: unknown) => {
    const [a, b] = [show(redis), show(modelled)];
    if (a !== b) found.push(`${what} is ${a} in Redis, ${b} in the model`);
  };
  same('virtual clock', state.clock.v, model.virtualClock);
  same(
    'rotation',
    state.rotation.map((entry) => entry.tenant),
    rotationOf(model).map((tenant) => tenant.name),
  );
  const { enqueued, served, done, failed, died, dropped, late, crashed, lapsed } = state.clock;
  same('totals', { enqueued, served, done, failed, died, dropped, late, crashed, lapsed }, model.counted);
  same('tenants', [...state.tenants.keys()].toSorted(), [...model.tenants.keys()].toSorted());
  for (const [name, tenant] of model.tenants) {
    const stored = state.tenants.get(name);
    if (stored) compareTenant(model, tenant, stored, state, aheadMs, same);
  }
  compareLeases(model, state, aheadMs, same);
  return found;
}

type Same = (what: string, redis: unknown, modelled: unknown) => void;

const ids = (jobs: readonly ({ id: string } | null)[]) => jobs.map((job) => job?.id ?? null);

function show(value: unknown): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : String(value);
  return JSON.stringify(value) ?? 'undefined';
}

function compareTenant(
  model: Model,
  tenant: ModelTenant,
  stored: PeekedTenant,
  state: QueueState,
  aheadMs: number,
  same: Same,
): void {
  const { name } = tenant;
  const about = (what: string) => `${what} of tenant ${JSON.stringify(name)}`;
  const onClock = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : ms - aheadMs);
  same(about('turn'), stored.epoch === state.clock.epoch ? stored.turn : 0, turnOf(model, tenant));
  const bits =
    (tenant.paused ? 1 : 0) +
    (tenant.capped ? 2 : 0) +
    (tenant.limited ? 4 : 0) +
    (tenant.backoffUntilMs === null ? 0 : 8);
  same(about('held'), stored.held, bits);
  if (bits >= 8) same(about('end of the backoff'), stored.heldUntil, onClock(tenant.backoffUntilMs));
  same(about('entry in held'), state.held.get(name) ?? null, onClock(tenant.lookAgainAtMs));
  same(about('entry in idle'), state.idle.get(name) ?? null, onClock(tenant.purgeAtMs));
  same(about('level'), stored.level, tenant.level);
  same(about('time of the level'), stored.levelAt, onClock(tenant.levelAtMs || null) ?? 0);
  same(about('weight'), stored.weight, tenant.weight ?? 0);
  same(about('refused'), stored.refused, tenant.refused);
  same(about('p95'), stored.p95 < 0 ? null : stored.p95, tenant.p95Ms);
  same(about('mean'), stored.mean < 0 ? null : stored.mean, tenant.meanMs);
  same(about('ms'), stored.ms, tenant.workedMs);
  for (const field of ['served', 'done', 'failed', 'enqueued'] as const) {
    same(about(field), stored[field], tenant[field]);
  }
  const times = (job: ModelJob) => ({ ...job, readySinceMs: job.readySinceMs - aheadMs });
  for (const kind of ['ready', 'returned'] as const) {
    const modelled = tenant[kind].map((job) => asText(times(job)));
    same(about(kind), (state[kind].get(name) ?? []).map(asText), modelled);
  }
  same(
    about('delayed'),
    (state.delayed.get(name) ?? []).map((job) => `${job.id} due ${job.score} attempts ${job.attempts}`).toSorted(),
    tenant.delayed.map(({ dueMs, job }) => `${job.id} due ${dueMs - aheadMs} attempts ${job.attempts}`).toSorted(),
  );
  same(about('dead'), ids(state.dead.get(name) ?? []), ids(tenant.dead));
}

function asText(job: Pick<StoredJob, 'id' | 'attempts' | 'alone' | 'cost' | 'readySinceMs'>): string {
  return `${job.id} attempts ${job.attempts}${job.alone ? ' alone' : ''} cost ${job.cost} since ${job.readySinceMs}`;
}

function compareLeases(model: Model, state: QueueState, aheadMs: number, same: Same): void {
  same('leases', [...state.leases.keys()].toSorted(), [...model.leases.keys()].toSorted());
  for (const [leaseId, lease] of model.leases) {
    const stored = state.leases.get(leaseId);
    if (!stored) continue;
    const about = (what: string) => `${what} of lease ${leaseId}`;
    for (const field of ['token', 'tenant', 'lanes', 'weight', 'visit'] as const) {
      same(about(field), stored[field], lease[field]);
    }
    same(about('nonce'), stored.nonce, lease.nonce ?? '');
    same(about('end'), state.opening.get(leaseId) ?? state.visits.get(leaseId), lease.endsAtMs - aheadMs);
    same(about('jobs'), ids(stored.jobs), ids(lease.jobs));
  }
}
