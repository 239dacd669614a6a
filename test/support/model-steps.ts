import * as fc from 'fast-check';
import { limitsOf, readyCount, tenantOf } from '../../functions/lib/domain/model/state.ts';
import { purge, setPaused, subscribe } from '../../functions/lib/domain/model/upkeep.ts';
import { ModelQueue } from './model-queue.ts';

export const NAMES = ['a', 'b', 'c', 'd', 'e'];
const MAX_COST = 7.5;
export const ROUNDING = 1e-6;

const name = fc.constantFrom(...NAMES);
const weight = fc.oneof(fc.double({ min: 0.1, max: 50, noNaN: true }), fc.constantFrom(0.1, 1, 3, 8, 50));
const costs = fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0.01, max: MAX_COST, noNaN: true })), {
  minLength: 1,
  maxLength: 40,
});
const durationMs = fc.oneof(fc.constantFrom(0, 40, 6_000), fc.integer({ min: 1, max: 3_000 }));
const pick = fc.nat({ max: 1_000 });

type Step =
  | { step: 'enqueue'; tenant: string; costs: number[] }
  | { step: 'claim'; max: number }
  | { step: 'end'; pick: number; durationMs: number; started: number; claimNext: boolean }
  | { step: 'weight'; tenant: string; weight: number }
  | { step: 'pause' | 'resume' | 'drop'; tenant: string };

export const enqueueStep = fc.record({ step: fc.constant('enqueue' as const), tenant: name, costs });
export const claimStep = fc.record({ step: fc.constant('claim' as const), max: fc.integer({ min: 1, max: 4 }) });
export const endStep = (started: fc.Arbitrary<number>) =>
  fc.record({ step: fc.constant('end' as const), pick, durationMs, started, claimNext: fc.boolean() });
export const weightStep = fc.record({ step: fc.constant('weight' as const), tenant: name, weight });
export const switchStep = fc.record({
  step: fc.constantFrom('pause' as const, 'resume' as const, 'drop' as const),
  tenant: name,
});
export const whole = fc.constant(1_000);

/** Enough that it stays backlogged until it is topped up again. */
const BACKLOG = 1_000;

export function run(queue: ModelQueue, step: Step): void {
  const { model, nowMs } = queue;
  switch (step.step) {
    case 'enqueue':
      queue.enqueue(step.tenant, step.costs);
      return;
    case 'claim':
      queue.claim(step.max);
      return;
    case 'end': {
      const leases = [...model.leases.values()];
      const lease = leases[step.pick % Math.max(1, leases.length)];
      if (lease) queue.end(lease, step);
      return;
    }
    case 'weight':
      subscribe(model, step.tenant, { weight: step.weight, maxConcurrency: BACKLOG }, nowMs);
      return;
    case 'pause':
    case 'resume':
      setPaused(model, step.tenant, step.step === 'pause', nowMs);
      return;
    case 'drop':
      purge(model, step.tenant, 'jobs', nowMs);
      return;
    default:
      step satisfies never;
  }
}

/** Jobs of a cost that differs by tenant, so that shares of jobs and of cost are not the same. */
export function fill(queue: ModelQueue, tenant: string): void {
  const missing = BACKLOG - readyCount(tenantOf(queue.model, tenant));
  const cost = [1, MAX_COST, 0.3, 2.5, 0.7][NAMES.indexOf(tenant)] ?? 1;
  if (missing <= BACKLOG / 2) return;
  queue.enqueue(
    tenant,
    Array.from({ length: missing }, (_, index) => (index % 9 === 8 ? 1 : cost)),
  );
}

/** c of the theorem: quantum + largest cost ÷ weight. */
export function reach(queue: ModelQueue, tenant: string): number {
  const { config } = queue.model;
  return config.quantum + MAX_COST / limitsOf(config, tenantOf(queue.model, tenant)).weight;
}

export function start(weights: readonly number[], backlogged: readonly string[], capacity: number): ModelQueue {
  const queue = new ModelQueue({ capacity });
  for (const [index, tenant] of NAMES.entries()) {
    run(queue, { step: 'weight', tenant, weight: weights[index] ?? 1 });
  }
  for (const tenant of backlogged) fill(queue, tenant);
  return queue;
}

export const weights = fc.array(weight, { minLength: NAMES.length, maxLength: NAMES.length });
export const capacity = fc.constantFrom(1, 2, 5, 40);
export const steps = (...kinds: fc.Arbitrary<Step>[]) =>
  fc.array(fc.oneof(...kinds), { minLength: 60, maxLength: 200 });
