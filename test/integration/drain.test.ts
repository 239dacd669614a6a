import { expect, test, vi } from 'vitest';
import { advance } from '../support/advance.ts';
import { checkInvariants } from '../support/invariants.ts';
import { keysOf } from '../support/keyspace.ts';
import { startRecorder } from '../support/recorder.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const stack = await startStack();
const { keys } = stack;
const recorder = await startRecorder();

/** Enqueues one job and returns how long it took until it ran, in ms. */
async function startsAfter(tenant: string): Promise<number> {
  const enqueuedMs = performance.now();
  const [id] = await stack.enqueue(tenant, [recorder.job()]);
  const call = await vi.waitFor(
    () => {
      const found = recorder.calls.find(({ jobId }) => jobId === id);
      if (!found) throw new Error(`job ${id} has not run`);
      return found;
    },
    { timeout: 20_000, interval: 5 },
  );
  return call.atMs - enqueuedMs;
}

test('starts a job of an idle queue at once, by a dispatcher that its enqueue brings or wakes', async () => {
  expect(await stack.queueView()).toMatchObject({ depth: 0, dispatcherAlive: false });
  expect(stack.pendingEvents('dispatch')).toBe(0);
  // No schedule fires here. A dispatcher blocks for up to 5 s: less means that it was woken.
  expect(await startsAfter('early')).toBeLessThan(2_500);
  await stack.drained();
  expect(await stack.queueView()).toMatchObject({ depth: 0, dispatcherAlive: true });
  expect(await startsAfter('early')).toBeLessThan(2_500);
  // One dispatcher did both.
  expect(stack.environments('dispatch')).toHaveLength(1);
});

test('leaves nothing in the rotation after a drain, and no key of an idle tenant after the purge delay', async () => {
  const tenants = Array.from({ length: 30 }, (_, i) => `t${i}`);
  await stack.subscribe('billed', { plan: 'growth' });
  for (const tenant of [...tenants, 'billed']) {
    await stack.enqueue(tenant, [
      ...jobsOf(20, 'sleep', { ms: 5 }),
      { type: 'echo', payload: {}, delaySeconds: 0.5 },
      { type: 'fail', payload: { times: 1 } },
    ]);
  }
  // Invariants hold at every moment; among them, that a tenant is in the rotation if it has ready jobs and is not held.
  do expect(await checkInvariants(stack.redis, stack.queue)).toEqual([]);
  while ((await stack.queueView()).depth > 100);
  await stack.drained();
  expect(await stack.queueView()).toMatchObject({ rotation: 0, waitingTenants: 0, visitsInFlight: 0, dead: 0 });
  expect(await stack.redis.zcard(keys.rotation)).toBe(0);
  expect(await checkInvariants(stack.redis, stack.queue)).toEqual([]);
  for (const tenant of tenants) expect(await stack.tenant(tenant)).toMatchObject({ done: 22, failed: 1 });

  await advance(stack.redis, stack.queue, 125_000);
  stack.fire('dispatch');
  // A tenant with a subscription record is kept; it has nothing else.
  await vi.waitFor(
    async () => {
      const left = await keysOf(stack);
      expect(left.filter((key) => key !== keys.dispatcher)).toEqual([keys.clock, keys.config, keys.tenant('billed')]);
    },
    { timeout: 10_000 },
  );
  expect(stack.problems).toEqual([]);
});
