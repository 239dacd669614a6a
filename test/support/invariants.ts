import type { RedisConnection } from '../../functions/lib/queue/script.ts';
import { type QueueState, readQueue, type StoredJob } from './queue-state.ts';

const KINDS = new Set(
  (
    'config clock totals rotation tenant record ready returned delayed dead due held opening visits visit ' +
    'depths oldest idle once onces wake dispatcher monitor withdrawn'
  ).split(' '),
);
const [PAUSED, AT_CONCURRENCY, RATE, BACKING_OFF] = [1, 2, 4, 8];

/**
 * Reads a whole queue and holds everything that is kept twice against each other. Returns what is wrong, in words; nothing
 * wrong, an empty list. True of a queue at any time between two scripts, whatever its clients did or died of.
 */
export async function checkInvariants(redis: RedisConnection, queue: string): Promise<string[]> {
  return violations(await readQueue(redis, queue));
}

/** The same of a state that was read already. */
export function violations(state: QueueState): string[] {
  const found: string[] = [];
  const same = (what: string, stored: unknown, actual: unknown) => {
    if (!Object.is(stored, actual)) found.push(`${what} is ${String(stored)}, but ${String(actual)} by what is there`);
  };
  const names = new Set([
    ...[...state.tenants, ...state.ready, ...state.returned, ...state.delayed, ...state.dead].map(([name]) => name),
    ...[...state.leases.values()].map((lease) => lease.tenant),
    ...state.rotation.map((entry) => entry.tenant),
    ...[...state.due, ...state.held, ...state.depths, ...state.oldest, ...state.idle].map(([name]) => name),
  ]);
  for (const name of names) checkTenant(state, name, same);
  checkTotals(state, same);
  checkRotation(state, same);
  checkLeases(state, same);
  checkPlaces(state, found);
  checkOnce(state, same);
  same('entries of wake above 1', Math.max(0, state.wakes - 1), 0);
  for (const key of state.mortal) if (key !== 'dispatcher') found.push(`${key} has a time to live`);
  for (const key of state.keys) {
    if (!KINDS.has(key.split(':', 1)[0] ?? '')) found.push(`${key} is a key of no known kind`);
  }
  return found;
}

type Same = (what: string, stored: unknown, actual: unknown) => void;

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);
const bodies = (jobs: readonly StoredJob[]) => sum(jobs.map((job) => job.bodyBytes));

function checkTenant(state: QueueState, name: string, same: Same): void {
  const about = (what: string) => `${what} of tenant ${JSON.stringify(name)}`;
  const tenant = state.tenants.get(name);
  if (!tenant) return same(about('state'), undefined, 'needed');
  const ready = state.ready.get(name) ?? [];
  const returned = state.returned.get(name) ?? [];
  const delayed = state.delayed.get(name) ?? [];
  const dead = state.dead.get(name) ?? [];
  const leases = [...state.leases.values()].filter((lease) => lease.tenant === name);
  same(about('ready'), tenant.ready, ready.length + returned.length);
  same(about('back'), tenant.back, returned.length);
  same(about('delayed'), tenant.delayed, delayed.length);
  same(about('dead'), tenant.dead, dead.length);
  same(about('flight'), tenant.flight, sum(leases.map((lease) => lease.jobs.filter((job) => job !== null).length)));
  same(about('lanes'), tenant.lanes, sum(leases.map((lease) => lease.lanes)));
  same(about('bytes'), tenant.bytes, bodies(ready) + bodies(returned) + bodies(delayed));

  const entries = state.rotation.filter((entry) => entry.tenant === name);
  const inRotation = tenant.ready > 0 && tenant.held === 0;
  same(about('entries in the rotation'), entries.length, inRotation ? 1 : 0);
  same(about('position'), tenant.pos, entries[0]?.position ?? 0);
  if (entries[0]) {
    same(about('turn'), tenant.turn, entries[0].turn);
    same(about('epoch'), tenant.epoch, state.clock.epoch);
  }

  const depth = tenant.ready + tenant.delayed;
  same(about('entry in depths'), state.depths.get(name), depth > 0 ? depth : undefined);
  same(about('entry in due'), state.due.get(name), delayed[0]?.score);
  const heads = [ready[0], returned[0]].flatMap((job) => (job ? [job.readySinceMs] : []));
  same(about('entry in oldest'), state.oldest.get(name), heads.length > 0 ? Math.min(...heads) : undefined);
  const overrides = [tenant.oweight, tenant.odepth, tenant.oconc, tenant.obytes, tenant.orate, tenant.oburst];
  const recorded = tenant.plan !== '' || overrides.some((value) => value >= 0);
  const idle = depth + tenant.flight + tenant.dead === 0 && !recorded && (tenant.held & PAUSED) === 0;
  same(about('presence in idle'), state.idle.has(name), idle);
  if (tenant.held & BACKING_OFF) same(about('entry in held'), state.held.get(name), tenant.heldUntil);
  else if (tenant.held & RATE) same(about('presence in held'), state.held.has(name), true);
  else if (tenant.held === AT_CONCURRENCY && tenant.lanes === 0 && tenant.ready > 0) {
    same(about('presence in held'), state.held.has(name), true);
  }
  for (const [index, job] of ready.entries()) {
    const before = ready[index - 1];
    if (before && before.sequence >= job.sequence) same(about('order of ready'), job.sequence, 'a later sequence');
  }
  for (const job of returned) same(about(`score in returned of job ${job.id}`), job.score, job.sequence);
}

function checkTotals({ clock, tenants }: QueueState, same: Same): void {
  for (const field of ['ready', 'delayed', 'flight', 'dead', 'bytes'] as const) {
    same(`total of ${field}`, clock[field], sum([...tenants.values()].map((tenant) => tenant[field])));
  }
}

function checkRotation({ clock, rotation, tenants }: QueueState, same: Same): void {
  const inside = rotation.map((entry) => tenants.get(entry.tenant));
  same('servable', clock.servable, sum(inside.map((tenant) => tenant?.ready ?? 0)));
  const weights = sum(inside.map((tenant) => tenant?.weight ?? 0));
  // Kept by adding and subtracting doubles.
  if (Math.abs(clock.weights - weights) > 1e-6 * (1 + weights)) same('weights', clock.weights, weights);
}

function checkLeases(state: QueueState, same: Same): void {
  for (const leaseId of new Set([...state.leases.keys(), ...state.opening.keys(), ...state.visits.keys()])) {
    const lease = state.leases.get(leaseId);
    const about = (what: string) => `${what} of lease ${leaseId}`;
    if (!lease) {
      same(about('record'), undefined, 'needed');
      continue;
    }
    const unopened = lease.nonce === '';
    same(about('presence in opening'), state.opening.has(leaseId), unopened);
    same(about('presence in visits'), state.visits.has(leaseId), !unopened);
    const left = lease.jobs.filter((job) => job !== null).length;
    same(about('count of jobs left'), lease.left, left);
    if (left === 0) same(about('jobs'), 0, 'at least one');
    if (lease.lanes < 1) same(about('lanes'), lease.lanes, 'at least one');
  }
}

function checkPlaces(state: QueueState, found: string[]): void {
  const places = new Map<string, string>();
  const put = (job: StoredJob, place: string) => {
    const other = places.get(job.id);
    if (other !== undefined) found.push(`job ${job.id} is in ${other} and in ${place}`);
    places.set(job.id, place);
  };
  for (const kind of ['ready', 'returned', 'delayed', 'dead'] as const) {
    for (const [name, jobs] of state[kind]) for (const job of jobs) put(job, `${kind} of ${JSON.stringify(name)}`);
  }
  for (const [leaseId, lease] of state.leases) {
    for (const job of lease.jobs) if (job) put(job, `visit ${leaseId}`);
  }
}

function checkOnce({ once, onces }: QueueState, same: Same): void {
  const filed = [...once].flatMap(([name, fields]) => fields.map((field) => `${field}\0${name}`));
  same(
    'fields of once that onces lacks',
    filed.find((member) => !onces.has(member)),
    undefined,
  );
}
