import { describe, expect, it } from 'vitest';
import type { TickOutcome } from '../../functions/lib/domain/outcomes.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { keysOf, rotationOf, snapshot } from '../support/keyspace.ts';
import { peekClock, peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';
import { allDone, claimSome, failed, learn, pass, payloads, put } from '../support/visits.ts';

const NOTHING = { lapsed: 0, crashed: 0, promoted: 0, released: 0, purged: 0, more: false };

/** Ticks until nothing more is due; returns how many calls that took. */
async function tickOut(client: QueueClient, each: (outcome: TickOutcome) => void = () => undefined): Promise<number> {
  for (let calls = 1; ; calls++) {
    const outcome = await client.tick();
    each(outcome);
    if (!outcome.more) return calls;
  }
}

it('changes nothing when nothing is due', async () => {
  const queue = await testQueue();
  const { client } = queue;
  expect(await client.tick()).toMatchObject(NOTHING);
  await put(client, 'acme', 5);
  await put(client, 'acme', 1, { delayMs: 5_000 });
  await claimOne(client);
  await claimSome(client, 1);
  const before = await snapshot(queue);
  expect(await client.tick()).toMatchObject(NOTHING);
  expect(await snapshot(queue)).toEqual(before);
});

describe('a lease that lapsed unopened', () => {
  it('gives its jobs back unharmed: order, attempts, charge, lanes, slot', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await learn(client, ['acme']);
    await put(client, 'acme', 6);
    await claimSome(client, 2);
    await pass(queue, 19_000);
    expect(await client.tick()).toMatchObject(NOTHING);
    await pass(queue, 1_000);
    expect(await client.tick()).toMatchObject({ ...NOTHING, lapsed: 2 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 6, inFlight: 0, lanes: 0, served: 1 });
    // Both charges are refunded: the tenant is not behind the clock, which stands where it was last visited.
    const { v } = await peekClock(queue.redis, queue.keys.clock);
    expect(v).toBe(4);
    expect((await rotationOf(queue))[0]?.turn).toBeLessThan(v);
    expect(await client.stats()).toMatchObject({ visitsInFlight: 0, inFlight: 0 });
    expect((await peekClock(queue.redis, queue.keys.clock)).lapsed).toBe(2);
    const visit = await claimOne(client);
    expect(payloads(visit)).toEqual(['0', '1', '2', '3']);
    expect(visit.jobs[0]?.attempt).toBe(1);
    expect((await claimOne(client)).jobs.map(({ payload }) => payload)).toEqual(['4', '5']);
  });
});

describe('a crash', () => {
  it('with several unsettled jobs uses no attempt; each is then visited alone', async () => {
    const queue = await testQueue({ quantum: 5 });
    const { client } = queue;
    await learn(client, ['acme']);
    await put(client, 'acme', 7);
    const visit = await claimOne(client);
    await client.settle(visit, allDone(visit).slice(0, 2), { claimNext: false });
    await pass(queue, 60_000);
    expect(await client.tick()).toMatchObject({ ...NOTHING, crashed: 1 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 5, inFlight: 0, lanes: 0, done: 3, failed: 0 });
    // What a visit took that crashed stays charged.
    expect(await client.inspect('acme')).toMatchObject({ served: 6 });
    expect((await rotationOf(queue)).map(({ turn }) => turn)).toEqual([5]);
    const alone = [await claimOne(client), await claimOne(client), await claimOne(client)];
    expect(alone.map(payloads)).toEqual([['2'], ['3'], ['4']]);
    expect(alone.map(({ jobs }) => jobs[0]?.attempt)).toEqual([1, 1, 1]);
    expect(payloads(await claimOne(client))).toEqual(['5', '6']);
  });

  it('keeps those visited alone apart from what came back before and what waits behind', async () => {
    const queue = await testQueue({ quantum: 2 });
    const { client } = queue;
    await learn(client, ['acme']);
    await put(client, 'acme', 6);
    const [first, second] = [await claimOne(client), await claimOne(client)];
    await pass(queue, 50_000);
    await client.extend(first);
    await pass(queue, 10_000);
    expect(await client.tick()).toMatchObject({ crashed: 1 });
    await client.settle(first, [{ index: 2, result: 'given_back' }, ...allDone(first)], { claimNext: false });
    expect(payloads(second)).toEqual(['2', '3']);
    const next = [];
    for (let i = 0; i < 4; i++) next.push(payloads(await claimOne(client)));
    expect(next).toEqual([['1'], ['2'], ['3'], ['4', '5']]);
  });

  it('alone uses an attempt, so that a job that kills its worker dies at last, and by itself', async () => {
    const queue = await testQueue({ quantum: 3 });
    const { client } = queue;
    await learn(client, ['acme']);
    await client.enqueue({ tenant: 'acme', jobs: newJobs(3, { maxAttempts: 2 }) });
    const first = await claimOne(client);
    expect(first.jobs).toHaveLength(3);
    await pass(queue, 60_000);
    await client.tick();
    const attempts: (number | undefined)[] = [];
    for (;;) {
      const claimed = await client.claim(1);
      const [lease] = claimed.visits;
      if (!lease) break;
      const opened = await client.open(lease, 'n');
      if (opened.outcome !== 'opened') throw new Error(opened.outcome);
      const { visit } = opened;
      expect(visit.jobs).toHaveLength(1);
      if (payloads(visit)[0] === '0') {
        attempts.push(visit.jobs[0]?.attempt);
        await pass(queue, 60_000);
        await client.tick();
      } else await client.settle(visit, allDone(visit), { claimNext: false });
    }
    expect(attempts).toEqual([1, 2]);
    expect(await client.inspect('acme')).toMatchObject({ dead: 1, done: 3, ready: 0, inFlight: 0 });
    const letter = await queue.redis.lindexBuffer(queue.keys.dead('acme'), 0);
    expect(letter?.toString('latin1')).toContain('its lease expired');
  });

  it('of a job with one attempt ends it when alone, not when it crashed with others', async () => {
    const queue = await testQueue({ quantum: 2 });
    const { client } = queue;
    await learn(client, ['acme']);
    await put(client, 'acme', 2, { maxAttempts: 1 });
    await claimOne(client);
    await pass(queue, 60_000);
    await client.tick();
    expect(await client.inspect('acme')).toMatchObject({ ready: 2, dead: 0 });
    await claimOne(client);
    await pass(queue, 60_000);
    await client.tick();
    expect(await client.inspect('acme')).toMatchObject({ ready: 1, dead: 1 });
  });

  it('frees the lanes of a tenant at its cap, which is then served again', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await client.subscribe('acme', { maxConcurrency: 1 });
    await put(client, 'acme', 2);
    await claimOne(client);
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
    await pass(queue, 60_000);
    await client.tick();
    expect(payloads(await claimOne(client))).toEqual(['0']);
  });

  it('of more workers than a slice holds is taken in by further calls', async () => {
    const queue = await testQueue({ capacity: 100 });
    const { client } = queue;
    for (let i = 0; i < 45; i++) await put(client, `t${i}`);
    for (const lease of await claimSome(client, 45)) await client.open(lease, 'n');
    await pass(queue, 60_000);
    const crashed: number[] = [];
    await tickOut(client, (outcome) => crashed.push(outcome.crashed));
    expect(crashed).toEqual([20, 20, 5]);
    expect(await client.stats()).toMatchObject({ visitsInFlight: 0, ready: 45, inFlight: 0 });
  });
});

describe('promotion', () => {
  it('takes due jobs in the order of their times to the tail, and retries to their place', async () => {
    const queue = await testQueue({ quantum: 100 });
    const { client } = queue;
    await learn(client, ['acme'], 1);
    await put(client, 'acme', 2);
    const visit = await claimOne(client);
    for (const [payload, delayMs] of [
      ['"c"', 3_000],
      ['"a"', 1_000],
      ['"b"', 2_000],
      ['"later"', 90_000],
    ] as const) {
      await put(client, 'acme', 1, { payload, delayMs });
    }
    await put(client, 'acme', 1, { payload: '"waiting"' });
    await client.settle(visit, [failed(2, 2_500), failed(1, 2_600)], { claimNext: false });
    await pass(queue, 5_000);
    expect(await client.tick()).toMatchObject({ ...NOTHING, promoted: 5 });
    const next = await claimOne(client);
    expect(payloads(next)).toEqual(['0', '1', '"waiting"', '"a"', '"b"', '"c"']);
    // Ready since it was due, not since the tick.
    expect(next.jobs.map(({ readySinceMs }) => next.nowMs - readySinceMs >= 1_900)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(await client.inspect('acme')).toMatchObject({ delayed: 1, ready: 0 });
    const { nextDueMs, nowMs } = await client.claim(1);
    expect(Math.round(((nextDueMs ?? 0) - nowMs) / 1_000)).toBe(60);
  });

  it('takes a job that is due before one that was delayed earlier', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await put(client, 'acme', 1, { delayMs: 90_000 });
    await put(client, 'acme', 1, { delayMs: 5_000 });
    await put(client, 'acme', 1, { delayMs: 60_000 });
    await pass(queue, 5_000);
    expect(await client.tick()).toMatchObject({ promoted: 1 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 1, delayed: 2 });
  });

  it('is bounded in one call, over tenants and over the jobs of one', async () => {
    const queue = await testQueue();
    const { client } = queue;
    for (let i = 0; i < 25; i++) await put(client, `t${i}`, 1, { delayMs: 10 });
    await put(client, 'many', 120, { delayMs: 20 });
    await pass(queue, 1_000);
    const promoted: number[] = [];
    await tickOut(client, (outcome) => promoted.push(outcome.promoted));
    expect(Math.max(...promoted)).toBeLessThanOrEqual(1_000);
    expect(promoted[0]).toBe(20);
    expect(promoted.reduce((sum, n) => sum + n)).toBe(145);
    expect(await client.stats()).toMatchObject({ ready: 145, delayed: 0, rotation: 26 });
    expect(await queue.redis.exists(queue.keys.due, queue.keys.delayed('many'))).toBe(0);
  });

  it('wakes a dispatcher', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme', 1, { delayMs: 10 });
    await queue.redis.del(queue.keys.wake);
    await pass(queue, 10);
    await queue.client.tick();
    expect(await queue.redis.llen(queue.keys.wake)).toBe(1);
  });
});

describe('the purge', () => {
  it('leaves no key of an idle tenant once the purge delay is over', async () => {
    const queue = await testQueue();
    const { client, keys } = queue;
    await put(client, 'acme', 2);
    await put(client, 'acme', 1, { delayMs: 5 });
    await client.enqueue({ tenant: 'acme', idempotencyKey: 'k', jobs: newJobs(1) });
    await pass(queue, 5);
    await client.tick();
    for (let i = 0; i < 4; i++) {
      const visit = await claimOne(client);
      await client.settle(visit, allDone(visit, 9_000), { claimNext: false });
    }
    await pass(queue, 119_000);
    expect(await client.tick()).toMatchObject({ purged: 0 });
    expect(await client.inspect('acme')).toMatchObject({ done: 4 });
    await pass(queue, 1_000);
    expect(await client.tick()).toMatchObject({ purged: 1 });
    expect(await client.inspect('acme')).toMatchObject({ done: 0, p95Ms: null });
    // The idempotency key outlives the drain, and nothing else does.
    expect((await keysOf(queue)).filter((key) => key.endsWith('acme'))).toEqual([keys.once('acme')]);
    await pass(queue, 86_400_000);
    await client.tick();
    await queue.redis.del(keys.wake, keys.dispatcher);
    expect(await keysOf(queue)).toEqual([keys.clock, keys.config]);
  });

  it.each<[string, (client: QueueClient) => Promise<unknown>]>([
    ['waiting jobs', (client) => put(client, 'acme')],
    ['delayed jobs', (client) => put(client, 'acme', 1, { delayMs: 86_400_000 })],
    ['a record', (client) => client.subscribe('acme', { plan: 'growth' })],
    ['an override', (client) => client.subscribe('acme', { maxDepth: 7 })],
    ['a pause', (client) => client.pause('acme')],
    [
      'dead letters',
      async (client) => {
        await put(client, 'acme', 1, { maxAttempts: 1 });
        await client.settle(await claimOne(client), [failed(1)], { claimNext: false });
      },
    ],
  ])('spares a tenant with %s', async (_, give) => {
    const queue = await testQueue();
    const { client } = queue;
    await learn(client, ['acme']);
    await give(client);
    await pass(queue, 200_000);
    expect(await client.tick()).toMatchObject({ purged: 0 });
    expect((await peekTenant(queue.redis, queue.keys.tenant('acme')))?.done).toBe(1);
  });

  it('spares a tenant whose turn is ahead of the clock, until the busy period is over', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await put(client, 'busy', 2);
    await put(client, 'acme', 1, { cost: 50 });
    const [busy, acme] = [await claimOne(client), await claimOne(client)];
    await client.settle(acme, allDone(acme), { claimNext: false });
    await pass(queue, 59_000);
    await client.extend(busy);
    await pass(queue, 59_000);
    await client.extend(busy);
    await pass(queue, 59_000);
    await client.extend(busy);
    expect(await client.tick()).toMatchObject({ purged: 0, crashed: 0 });
    expect((await peekTenant(queue.redis, queue.keys.tenant('acme')))?.turn).toBe(50);
    await client.settle(busy, allDone(busy), { claimNext: false });
    const last = await claimOne(client);
    await client.settle(last, allDone(last), { claimNext: false });
    await pass(queue, 120_000);
    expect(await client.tick()).toMatchObject({ purged: 2 });
  });

  it('is bounded in one call', async () => {
    const queue = await testQueue();
    const { client } = queue;
    for (let i = 0; i < 45; i++) {
      await put(client, `t${i}`);
      await client.purge(`t${i}`, 'jobs');
    }
    await pass(queue, 120_000);
    const purged: number[] = [];
    await tickOut(client, (outcome) => purged.push(outcome.purged));
    expect(purged).toEqual([20, 20, 5]);
  });

  it('takes a hold along, so that it does not bring the tenant back', async () => {
    const queue = await testQueue({ purgeMs: 500 });
    const { client, keys } = queue;
    await put(client, 'acme');
    for (let i = 0; i < 3; i++) {
      const [lease] = await claimSome(client, 1);
      if (lease) await client.release(lease);
    }
    await client.purge('acme', 'jobs');
    await pass(queue, 600);
    expect(await client.tick()).toMatchObject({ purged: 1, released: 0 });
    await pass(queue, 60_000);
    await client.tick();
    expect((await keysOf(queue)).filter((key) => key.endsWith('acme') || key === keys.held)).toEqual([]);
  });
});

const plan = (maxConcurrency: number) => ({ plans: { free: { weight: 1, maxDepth: 100, maxConcurrency } } });

it('looks again at a tenant that may hold no lane, so that a raised cap of its plan lets it in', async () => {
  const queue = await testQueue(plan(0));
  const { client } = queue;
  await put(client, 'acme');
  await client.configure(testConfig(plan(1)));
  await pass(queue, 300_000);
  expect(await client.tick()).toMatchObject({ released: 1 });
  expect(payloads(await claimOne(client))).toEqual(['0']);
});

it('sweeps what is left of idempotency keys in slices', async () => {
  const queue = await testQueue();
  const { client } = queue;
  for (let i = 0; i < 250; i++) await put(client, `t${i % 3}`);
  await pass(queue, 60_000);
  expect(await tickOut(client)).toBe(3);
  expect(await queue.redis.exists(queue.keys.onces, queue.keys.once('t0'))).toBe(0);
});
