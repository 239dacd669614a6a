import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rotationOf, turnOf } from '../../functions/lib/domain/model/order.ts';
import { lanesOf, limitsOf, readyCount, tenantOf } from '../../functions/lib/domain/model/state.ts';
import { configure, setPaused, subscribe } from '../../functions/lib/domain/model/upkeep.ts';
import { ModelQueue } from '../support/model-queue.ts';
import {
  NAMES,
  ROUNDING,
  enqueueStep,
  claimStep,
  endStep,
  weightStep,
  switchStep,
  whole,
  run,
  fill,
  reach,
  start,
  weights,
  capacity,
  steps,
} from '../support/model-steps.ts';

describe('the fair order', () => {
  test('keeps the service per weight of backlogged tenants within c₁ + c₂ over any interval', () => {
    const other = fc
      .oneof(switchStep, weightStep)
      .map((step) => ({ ...step, tenant: step.tenant > 'c' ? step.tenant : 'e' }));
    const list = steps(
      claimStep,
      claimStep,
      endStep(whole),
      endStep(fc.nat({ max: 9 })),
      enqueueStep,
      other,
      weightStep,
    );
    fc.assert(
      fc.property(weights, capacity, list, (given, slots, played) => {
        const backlogged = ['a', 'b', 'c'];
        const queue = start(given, backlogged, slots);
        const pairs = [
          ['a', 'b'],
          ['a', 'c'],
          ['b', 'c'],
        ].map(([one = '', two = '']) => ({ one, two, low: 0, high: 0, fresh: true }));
        for (const step of played) {
          for (const tenant of backlogged) fill(queue, tenant);
          run(queue, step);
          for (const pair of pairs) {
            // A change of its weight begins a new interval: what was given before was measured by another yardstick.
            if (step.step === 'weight' && [pair.one, pair.two].includes(step.tenant)) pair.fresh = true;
            // A refund leaves a tenant behind the clock and a lower weight far ahead of it, both by intent, until the
            // clock and the tenant have met again.
            const apart = [pair.one, pair.two].some((tenant) => {
              const ahead = turnOf(queue.model, tenantOf(queue.model, tenant)) - queue.model.virtualClock;
              return ahead < -ROUNDING || ahead > reach(queue, tenant) + ROUNDING;
            });
            if (apart) continue;
            const lead = (queue.service.get(pair.one) ?? 0) - (queue.service.get(pair.two) ?? 0);
            if (pair.fresh) Object.assign(pair, { low: lead, high: lead, fresh: false });
            pair.low = Math.min(pair.low, lead);
            pair.high = Math.max(pair.high, lead);
            expect(pair.high - pair.low).toBeLessThanOrEqual(
              reach(queue, pair.one) + reach(queue, pair.two) + ROUNDING,
            );
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('from a common start, keeps backlogged tenants within the larger of their c at every job', () => {
    fc.assert(
      fc.property(weights, capacity, steps(claimStep, endStep(whole)), (given, slots, played) => {
        const queue = start(given, NAMES, slots);
        for (const step of played) {
          for (const tenant of NAMES) fill(queue, tenant);
          run(queue, step);
          for (const one of NAMES) {
            for (const two of NAMES) {
              const lead = (queue.service.get(one) ?? 0) - (queue.service.get(two) ?? 0);
              expect(lead).toBeLessThanOrEqual(Math.max(reach(queue, one), reach(queue, two)) + ROUNDING);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('gives nothing for draining and coming back, or for being paused and resumed', () => {
    const list = steps(claimStep, claimStep, endStep(whole), endStep(whole), enqueueStep, switchStep).map((played) =>
      played.filter((step) => !('tenant' in step) || step.tenant !== 'a'),
    );
    fc.assert(
      fc.property(weights, capacity, list, (given, slots, played) => {
        const queue = start(given, ['a'], slots);
        const lowest = new Map<string, number>();
        for (const step of played) {
          fill(queue, 'a');
          run(queue, step);
          for (const tenant of NAMES.slice(1)) {
            const lead = (queue.service.get(tenant) ?? 0) - (queue.service.get('a') ?? 0);
            lowest.set(tenant, Math.min(lowest.get(tenant) ?? 0, lead));
            const gained = lead - (lowest.get(tenant) ?? 0);
            expect(gained).toBeLessThanOrEqual(reach(queue, 'a') + reach(queue, tenant) + ROUNDING);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('gives nothing for leaving the rotation after every visit', () => {
    const queue = new ModelQueue({ capacity: 1 });
    for (const tenant of ['steady', 'hopping'])
      queue.enqueue(
        tenant,
        Array.from({ length: 2_000 }, () => 1),
      );
    for (let visit = 0; visit < 500; visit++) {
      for (const lease of queue.claim(1)) queue.end(lease);
      for (const paused of [true, false]) setPaused(queue.model, 'hopping', paused, queue.nowMs);
    }
    const [steady = 0, hopping = 0] = ['steady', 'hopping'].map((tenant) => queue.service.get(tenant) ?? 0);
    expect(hopping).toBeGreaterThan(900);
    expect(Math.abs(hopping - steady)).toBeLessThanOrEqual(10);
  });

  test('lets a tenant that enters with nothing to its account wait for at most one visit of every other', () => {
    const list = steps(claimStep, claimStep, endStep(whole), endStep(whole), enqueueStep, switchStep);
    fc.assert(
      fc.property(weights, capacity, list, (given, slots, played) => {
        const queue = start(given, NAMES, slots);
        const { model } = queue;
        const waiting = new Map<string, Map<string, number>>();
        const visited = (tenant: string) => {
          waiting.delete(tenant);
          for (const seen of waiting.values()) {
            seen.set(tenant, (seen.get(tenant) ?? 0) + 1);
            expect(seen.get(tenant)).toBeLessThanOrEqual(1);
          }
        };
        for (const step of played) {
          const before = new Set(rotationOf(model).map((tenant) => tenant.name));
          const newcomer = 'tenant' in step ? turnOf(model, tenantOf(model, step.tenant)) <= model.virtualClock : false;
          if (step.step === 'claim') {
            for (let visit = 0; visit < step.max; visit++) for (const lease of queue.claim(1)) visited(lease.tenant);
          } else if (step.step === 'end') run(queue, { ...step, claimNext: false });
          else run(queue, step);
          for (const tenant of NAMES) {
            const inside = tenantOf(model, tenant).position > 0;
            if (!inside) waiting.delete(tenant);
            if (inside && !before.has(tenant) && newcomer && step.step !== 'claim') waiting.set(tenant, new Map());
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('leaves no slot free while a tenant could be served', () => {
    const list = steps(claimStep, endStep(whole), endStep(fc.nat({ max: 9 })), enqueueStep, weightStep, switchStep);
    fc.assert(
      fc.property(weights, capacity, list, (given, slots, played) => {
        const queue = start(given, ['a'], slots);
        const { model } = queue;
        for (const step of played) {
          run(queue, step);
          queue.claim(50);
          const idle = [...model.tenants.values()].filter(
            (tenant) =>
              readyCount(tenant) > 0 &&
              !tenant.paused &&
              lanesOf(model, tenant) < limitsOf(model.config, tenant).maxConcurrency,
          );
          expect(idle.length === 0 || model.leases.size === slots).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('serves equal turns first come, first served, under an endless stream of lower names', () => {
    const queue = new ModelQueue({ capacity: 1 });
    const order: string[] = [];
    queue.enqueue('middle', [1]);
    queue.enqueue('zzz', [1]);
    for (let step = 0; step < 50; step++) {
      queue.enqueue(`a${String(1_000 - step)}`, [1]);
      const [lease] = queue.claim(1);
      if (!lease) throw new Error('nothing to claim');
      order.push(lease.tenant);
      queue.end(lease);
    }
    expect(order.slice(0, 4)).toEqual(['middle', 'zzz', 'a1000', 'a999']);
    expect(order).toHaveLength(50);
  });

  test.each([1, 5, 40])('shares 8:3:1 from the first job with %i visits at once', (slots) => {
    const queue = new ModelQueue({ capacity: slots });
    const plans = { enterprise: 8, growth: 3, free: 1 };
    for (const plan of Object.keys(plans))
      queue.enqueue(
        plan,
        Array.from({ length: 8_000 }, () => 1),
        plan,
      );
    let total = 0;
    for (let round = 0; total < 6_000 && round < 20_000; round++) {
      for (const lease of queue.claim(50)) total += lease.jobs.length;
      const leases = [...queue.model.leases.values()];
      const lease = leases[(round * 7) % leases.length];
      // Now and then a visit yields after its first job.
      if (lease) {
        const started = round % 10 === 0 ? 1 : lease.jobs.length;
        total -= lease.jobs.length - started;
        queue.end(lease, { started, durationMs: 40 + (round % 13) });
      }
    }
    expect(total).toBeGreaterThanOrEqual(6_000);
    for (const [plan, share] of Object.entries(plans)) {
      const got = (queue.service.get(plan) ?? 0) * share;
      expect(Math.abs(got / ((total * share) / 12) - 1), `${plan} got ${got} of ${total}`).toBeLessThan(0.02);
    }
  });

  test('refunds what was charged, at the weight of the visit, whatever the weight is by then', () => {
    const queue = new ModelQueue({ capacity: 1 });
    subscribe(queue.model, 'a', { weight: 4 }, queue.nowMs);
    queue.enqueue('a', [2, 6]);
    const [lease] = queue.claim(1);
    if (!lease) throw new Error('nothing to claim');
    expect(tenantOf(queue.model, 'a').turn).toBe(0.5);
    subscribe(queue.model, 'a', { weight: 1 }, queue.nowMs);
    expect(tenantOf(queue.model, 'a').turn).toBe(2);
    queue.end(lease, { started: 0 });
    expect(tenantOf(queue.model, 'a').turn).toBe(1.5);
    expect(tenantOf(queue.model, 'a').served).toBe(0);
  });

  test('stretches what a turn is ahead of the clock when the weight changes, and leaves one at the clock alone', () => {
    const queue = new ModelQueue({ capacity: 40 });
    for (const tenant of ['ahead', 'behind']) queue.enqueue(tenant, [1, 1]);
    queue.claim(1);
    for (const tenant of ['ahead', 'behind']) subscribe(queue.model, tenant, { weight: 0.25 }, queue.nowMs);
    expect(tenantOf(queue.model, 'ahead').turn).toBe(4);
    expect(tenantOf(queue.model, 'behind').turn).toBe(0);
  });

  test('passes over a tenant whose plan was capped below what it holds, and over nobody else', () => {
    const queue = new ModelQueue({ capacity: 40 });
    queue.enqueue('capped', [1, 1, 1], 'free');
    queue.enqueue('other', [1, 1, 1], 'growth');
    expect(queue.claim(1)[0]?.tenant).toBe('capped');
    const { config } = queue.model;
    const free = { weight: 1, maxDepth: 100, maxConcurrency: 1 };
    configure(queue.model, { ...config, version: 2, plans: { ...config.plans, free } });
    expect(queue.claim(10).map((lease) => lease.tenant)).toEqual(['other', 'other', 'other']);
    expect(rotationOf(queue.model)).toEqual([]);
  });
});
