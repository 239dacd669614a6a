import { describe, expect, it } from 'vitest';
import { rotationOf, snapshot } from '../support/keyspace.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJob, newJobs, testConfig } from '../support/queue-fixture.ts';
import { claimSome, learn, pass, put } from '../support/visits.ts';

const capped = (maxDepth: number) => ({
  plans: { free: { weight: 1, maxDepth, maxConcurrency: 50 }, gold: { weight: 4, maxDepth, maxConcurrency: 50 } },
});

describe('admission', () => {
  it('answers an id for each job and the depth after them', async () => {
    const { client } = await testQueue();
    const first = await client.enqueue({ tenant: 'acme', jobs: newJobs(3) });
    const second = await client.enqueue({ tenant: 'acme', jobs: newJobs(2, { delayMs: 5_000 }) });
    expect(first).toMatchObject({ outcome: 'accepted', depth: 3 });
    expect(second).toMatchObject({ outcome: 'accepted', depth: 5 });
    const ids = [first, second].flatMap((answer) => (answer.outcome === 'accepted' ? answer.ids : []));
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^0-[0-9a-f]{24}$/);
    expect((await claimOne(client)).jobs[0]?.id).toBe(ids[0]);
    expect(await client.inspect('acme')).toMatchObject({ ready: 2, delayed: 2, inFlight: 1, enqueued: 5 });
  });

  it('admits exactly the cap of 1,000 parallel enqueues for a paused tenant', async () => {
    const { client } = await testQueue(capped(100));
    await client.pause('acme');
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => client.enqueue({ tenant: 'acme', jobs: [newJob()] })),
    );
    expect(answers.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(100);
    expect(answers.filter(({ outcome }) => outcome === 'full')).toHaveLength(900);
    expect(await client.inspect('acme')).toMatchObject({ ready: 100, enqueued: 100 });
  });

  it('takes a batch that just fits, and refuses a larger one whole', async () => {
    const { client } = await testQueue(capped(10));
    await put(client, 'acme', 4, { delayMs: 60_000 });
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(7) })).toMatchObject({ outcome: 'full', room: 6 });
    await put(client, 'acme', 6);
    expect(await client.inspect('acme')).toMatchObject({ ready: 6, delayed: 4 });
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ outcome: 'full', room: 0 });
  });

  it('does not count jobs in flight against the cap, and tells no room while jobs that came back are above it', async () => {
    const { client } = await testQueue(capped(2));
    await put(client, 'acme', 2);
    const visit = await claimOne(client);
    await put(client, 'acme', 1);
    await client.settle(visit, [{ index: 1, result: 'given_back' }], { claimNext: false });
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({
      outcome: 'full',
      depth: 3,
      limit: 2,
      room: 0,
    });
  });

  it('writes nothing when it refuses', async () => {
    const queue = await testQueue(capped(3));
    const { client } = queue;
    await put(client, 'acme', 3);
    await client.enqueue({ tenant: 'other', idempotencyKey: 'k', jobs: newJobs(1) });
    const before = await snapshot(queue);
    const refusals = [
      await client.enqueue({ tenant: 'acme', jobs: newJobs(1) }),
      await client.enqueue({ tenant: 'acme', claimPlan: 'gold', jobs: newJobs(1, { delayMs: 1 }) }),
      await client.enqueue({ tenant: 'acme', idempotencyKey: 'k', jobs: newJobs(1) }),
      await client.enqueue({ tenant: 'new', jobs: newJobs(4) }),
      await client.enqueue({ tenant: 'new', claimPlan: 'none', jobs: newJobs(1) }),
      await client.enqueue({ tenant: 'other', idempotencyKey: 'k', jobs: newJobs(2) }),
    ];
    expect(refusals.map(({ outcome }) => outcome)).toEqual([
      'full',
      'full',
      'full',
      'full',
      'unknown_plan',
      'conflict',
    ]);
    expect(await snapshot(queue)).toEqual(before);
  });

  it('lists the plans there are when the claim names another', async () => {
    const { client } = await testQueue();
    const answer = await client.enqueue({ tenant: 'acme', claimPlan: 'gold', jobs: newJobs(1) });
    if (answer.outcome !== 'unknown_plan') throw new Error(answer.outcome);
    expect(answer.plans.toSorted()).toEqual(['enterprise', 'free', 'growth']);
  });

  it('tells at the cap how fast tenant and queue are served, and the share of its weight', async () => {
    const queue = await testQueue(capped(4));
    const { client } = queue;
    const refusal = () => client.enqueue({ tenant: 'acme', jobs: newJobs(5) });
    expect(await refusal()).toEqual({
      outcome: 'full',
      cap: 'maxDepth',
      used: 0,
      limit: 4,
      needed: 5,
      waiting: 0,
      depth: 0,
      room: 4,
      rate: { tenant: null, queue: null, weightShare: 1 },
    });
    await learn(client, ['acme', 'gold', 'gold', 'gold']);
    await pass(queue, 100_000);
    await put(client, 'gold', 4);
    await client.subscribe('gold', { plan: 'gold' });
    const told = await refusal();
    if (told.outcome !== 'full') throw new Error(told.outcome);
    expect(told.rate.weightShare).toBe(1 / 5);
    expect(told.rate.tenant).toBeCloseTo(1 / 100, 3);
    expect(told.rate.queue).toBeCloseTo(4 / 100, 3);
    await put(client, 'acme', 4);
    expect(await refusal()).toMatchObject({ depth: 4, room: 0, rate: { weightShare: 1 / 5 } });
    // Nothing served for two minutes: the readings tell nothing.
    await pass(queue, 120_001);
    expect(await refusal()).toMatchObject({ rate: { tenant: null, queue: null } });
  });
});

describe('the rotation', () => {
  it('is not changed by an enqueue of a tenant in it', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await put(client, 'b', 2);
    await put(client, 'a', 1);
    const before = await rotationOf(queue);
    await put(client, 'b', 3);
    await put(client, 'a', 3, { delayMs: 100 });
    expect(await rotationOf(queue)).toEqual(before);
    expect(before.map(({ tenant }) => tenant)).toEqual(['b', 'a']);
  });

  it('takes in an idle tenant at the virtual clock: idle time banks nothing', async () => {
    const { client, redis, keys } = await testQueue();
    await learn(client, ['late']);
    await put(client, 'busy', 20);
    await claimSome(client, 5);
    await put(client, 'late');
    const v = (await client.stats()).virtualClock;
    expect(v).toBeGreaterThan(0);
    expect((await peekTenant(redis, keys.tenant('late')))?.turn).toBe(v);
  });

  it('lets a tenant that left ahead of the clock come back where it left', async () => {
    const { client, redis, keys } = await testQueue();
    await put(client, 'x', 2);
    await put(client, 'y');
    await claimSome(client, 1);
    await put(client, 'y', 1);
    const [visit] = await claimSome(client, 1);
    expect(visit?.tenant).toBe('y');
    await claimSome(client, 1);
    // x has been charged 2 and holds nothing more; the clock is at 1.
    expect(await peekTenant(redis, keys.tenant('x'))).toMatchObject({ pos: 0, turn: 2 });
    await put(client, 'x');
    expect((await peekTenant(redis, keys.tenant('x')))?.turn).toBe(2);
  });

  it('does not take in a tenant with delayed jobs only', async () => {
    const { client } = await testQueue();
    await put(client, 'acme', 1, { delayMs: 60_000 });
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty', rotation: 0 });
  });
});

describe('the caller', () => {
  it('is told to invoke a dispatcher once, however many race, until there is a mark of life', async () => {
    const queue = await testQueue();
    const { client } = queue;
    const race = async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => client.enqueue({ tenant: `t${i}`, jobs: newJobs(1) })),
      );
      return answers.filter((answer) => answer.outcome === 'accepted' && answer.dispatch).length;
    };
    expect(await race()).toBe(1);
    expect(await race()).toBe(0);
    // The one that was called never came, and the mark for it has run out.
    const called = await queue.redis.pttl(queue.keys.dispatcher);
    expect(called).toBeGreaterThan(3_000);
    expect(called).toBeLessThanOrEqual(5_000);
    await queue.redis.del(queue.keys.dispatcher);
    expect(await race()).toBe(1);
    await client.markDispatcher('take');
    const alive = await queue.redis.pttl(queue.keys.dispatcher);
    expect(alive).toBeGreaterThan(1_000);
    expect(alive).toBeLessThanOrEqual(3_000);
    expect(await race()).toBe(0);
    await client.unmarkDispatcher();
    expect(await race()).toBe(1);
  });

  it('is told to for delayed jobs, not for a paused tenant', async () => {
    const { client } = await testQueue();
    await client.pause('acme');
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ dispatch: false });
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1, { delayMs: 9 }) })).toMatchObject({
      dispatch: true,
    });
  });
});

it('takes the plan of the claim until another comes, for limits and weight', async () => {
  const { client } = await testQueue();
  await client.enqueue({ tenant: 'acme', claimPlan: 'growth', jobs: newJobs(1) });
  expect(await client.inspect('acme')).toMatchObject({ plan: 'growth', weight: 3, maxDepth: 100_000 });
  await put(client, 'acme');
  expect(await client.inspect('acme')).toMatchObject({ plan: 'growth' });
  await client.enqueue({ tenant: 'acme', claimPlan: 'enterprise', jobs: newJobs(1) });
  expect(await client.inspect('acme')).toMatchObject({ plan: 'enterprise', weight: 8, record: { plan: null } });
});

it('lets the plan of the claim act on what is ahead of the clock at once', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'other', 2);
  await put(client, 'acme', 2, { cost: 24 });
  await claimSome(client, 2);
  expect((await rotationOf(queue)).map(({ turn }) => turn)).toEqual([1, 24]);
  await client.enqueue({ tenant: 'acme', claimPlan: 'enterprise', jobs: newJobs(1) });
  expect((await rotationOf(queue)).map(({ tenant, turn }) => [tenant, turn])).toEqual([
    ['other', 1],
    ['acme', 3],
  ]);
  expect((await client.inspect('other')).rate.weightShare).toBe(1 / 9);
});

it('puts one entry on the wake list, however many jobs come', async () => {
  const { client, redis, keys } = await testQueue();
  await put(client, 'a', 3);
  await put(client, 'b', 3);
  expect(await redis.llen(keys.wake)).toBe(1);
  expect(await client.waitForWake(5_000)).toBe(true);
  await put(client, 'b', 1);
  expect(await redis.llen(keys.wake)).toBe(1);
});

it('wakes for a delayed job only when it is due before everything else that was delayed', async () => {
  const { client, redis, keys } = await testQueue();
  const woken: number[] = [];
  for (const delayMs of [60_000, 90_000, 30_000]) {
    await put(client, `t${delayMs}`, 1, { delayMs });
    woken.push(await redis.llen(keys.wake));
    await redis.del(keys.wake);
  }
  expect(woken).toEqual([1, 0, 1]);
});

it('wakes nobody while no visit is possible', async () => {
  const { client, redis, keys } = await testQueue({ ...testConfig(), capacity: 1 });
  await client.pause('held');
  await put(client, 'held');
  expect(await redis.llen(keys.wake)).toBe(0);
  await put(client, 'acme', 2);
  await claimOne(client);
  await redis.del(keys.wake);
  await put(client, 'acme');
  expect(await redis.llen(keys.wake)).toBe(0);
});
