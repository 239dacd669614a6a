import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { Lockstep } from '../support/lockstep.ts';
import { lists, TENANTS } from '../support/lockstep-steps.ts';
import { type QueueState, readQueue } from '../support/queue-state.ts';

const DELETES = 500;
const STEPS = 28;

let server: RunningRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ cluster: false });
  redis = new Redis(server.url);
  await Lockstep.load(redis);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** Everywhere in a queue where there is something of a tenant. */
function tracesOf(state: QueueState, name: string): string[] {
  const keys = state.keys.filter((key) => key.endsWith(`:${name}`) && !key.startsWith('visit:'));
  const sets = (['due', 'held', 'depths', 'oldest', 'idle'] as const).filter((set) => state[set].has(name));
  const visits = [...state.leases].filter(([, lease]) => lease.tenant === name).map(([leaseId]) => `visit:${leaseId}`);
  const rotation = state.rotation.filter((entry) => entry.tenant === name).map(() => 'rotation');
  const onces = [...state.onces.keys()].filter((entry) => entry.endsWith(`\0${name}`)).map(() => 'onces');
  return [...keys, ...sets, ...visits, ...rotation, ...onces];
}

/** What the queue knows of one tenant, but for its place among the others. */
const ownOf = (state: QueueState, name: string) => ({
  tenant: state.tenants.get(name),
  lists: (['ready', 'returned', 'delayed', 'dead'] as const).map((kind) => state[kind].get(name)),
  sets: (['due', 'held', 'depths', 'oldest', 'idle'] as const).map((set) => state[set].get(name)),
  leases: [...state.leases].filter(([, lease]) => lease.tenant === name),
  once: state.once.get(name),
});

it(`${DELETES} deletes at random moments of random lives leave nothing of a tenant, and everything of the others`, {
  timeout: 600_000,
}, async () => {
  let played = 0;
  let found = 0;
  const property = fc.asyncProperty(lists(STEPS), fc.nat(), fc.nat(), async ({ config, steps }, at, whom) => {
    const queue = `q${(played += 1)}`;
    const moment = 5 + (at % (STEPS - 5));
    const lockstep = await Lockstep.start(redis, queue, config);
    try {
      for (const step of steps.slice(0, moment)) if (step) await lockstep.play(step);
      const before = await readQueue(redis, queue);
      // One of those that there is something of: a delete of another would prove nothing.
      const there = TENANTS.filter((tenant) => tracesOf(before, tenant).length > 0);
      const name = there[whom % Math.max(1, there.length)] ?? TENANTS[0] ?? '';
      found += there.length > 0 ? 1 : 0;
      await lockstep.play({ step: 'purge', tenant: name, scope: 'everything' });
      const after = await readQueue(redis, queue);
      expect(tracesOf(after, name)).toEqual([]);
      expect(Object.values(after.clock).filter((count) => count < 0)).toEqual([]);
      const others = TENANTS.filter((other) => other !== name);
      expect(others.map((other) => ownOf(after, other))).toEqual(others.map((other) => ownOf(before, other)));
      // Late settles, opens and ticks among the rest: the model says what they may still change.
      for (const step of steps.slice(moment)) if (step) await lockstep.play(step);
    } finally {
      await lockstep.end();
      await redis.del(`${queueKeys(queue, 0).prefix}config`);
    }
  });
  await fc.assert(property, { numRuns: DELETES });
  expect(found).toBeGreaterThan(DELETES / 2);
});
