import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { jobsOf, startStack } from '../support/stack.ts';

const WEIGHTS = { enterprise: 8, growth: 3, free: 1 };
const PLANS = ['enterprise', 'growth', 'free'] as const;
const WINDOW = 6_000;

const stack = await startStack();

/** The three tenants at one moment. Fails when one of them has no work left. */
async function views(tenants: readonly string[]) {
  const waiting = await stack.waitingTenants();
  return tenants.map((name) => {
    const view = waiting.find(({ tenant }) => tenant === name);
    if (!view) throw new Error(`${name} has no work left before ${WINDOW} jobs were claimed`);
    return view;
  });
}

test.each([
  // Of what takes no time, more: a look that is late on a busy machine must still find all three at work.
  { capacity: 1, backlog: 9_000, job: { type: 'echo', payload: {} } },
  { capacity: 5, backlog: 5_000, job: { type: 'sleep', payload: { ms: 2 } } },
  { capacity: 40, backlog: 5_000, job: { type: 'sleep', payload: { ms: 20 } } },
])('shares 8:3:1 between the plans with $capacity visits at once', async ({ capacity, backlog, job }) => {
  const tenants = PLANS.map((plan) => `${plan}-${capacity}`);
  await stack.configure({ capacity });
  // Held until all three are there, so that they start together.
  await stack.redis.hset(stack.keys.config, 'paused', 1);
  for (const [i, tenant] of tenants.entries()) {
    await stack.subscribe(tenant, { plan: PLANS[i], maxDepth: backlog });
    await stack.enqueue(tenant, jobsOf(backlog, job.type, job.payload));
  }
  await stack.redis.hset(stack.keys.config, 'paused', 0);
  stack.fire('dispatch');

  let claimed: number[];
  let most = 0;
  do {
    await pause(5);
    claimed = (await views(tenants)).map(({ served }) => served);
    most = Math.max(most, (await stack.queueView()).visitsInFlight);
  } while (claimed.reduce((sum, count) => sum + count) < WINDOW);

  expect(most).toBe(capacity);
  const total = claimed.reduce((sum, count) => sum + count);
  const entitled = PLANS.map((plan) => WEIGHTS[plan] / (WEIGHTS.enterprise + WEIGHTS.growth + WEIGHTS.free));
  const off = claimed.map((count, i) => Math.abs(count / total / (entitled[i] ?? 0) - 1));
  expect(Math.max(...off)).toBeLessThanOrEqual(0.02);
  for (const tenant of tenants) await stack.call('DELETE', `/v1/tenants/${tenant}`);
});
