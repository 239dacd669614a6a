import { describe, expect, it } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { keysOf, rotationOf, snapshot } from '../support/keyspace.ts';
import { losingReplies } from '../support/lost-reply.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJob, newJobs, testConfig } from '../support/queue-fixture.ts';
import { allDone, claimSome, learn, openLease, pass, payloads, put } from '../support/visits.ts';

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
      depth: 0,
      limit: 4,
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

describe('the idempotency key', () => {
  const once = { tenant: 'acme', idempotencyKey: 'order 17', jobs: newJobs(2, { delayMs: 0 }) };

  it('gets the first answer again, also while the first is on its way and after its jobs are done', async () => {
    const queue = await testQueue();
    const { client } = queue;
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.enqueue(once)));
    expect(answers.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(19);
    const [first] = answers;
    if (first?.outcome !== 'accepted') throw new Error('the first in line was not the first');
    for (const answer of answers) expect(answer).toMatchObject({ ids: first.ids, depth: 2 });
    for (let i = 0; i < 2; i++) {
      const visit = await claimOne(client);
      await client.settle(visit, allDone(visit), { claimNext: false });
    }
    expect(await client.enqueue(once)).toEqual({ outcome: 'repeated', ids: first.ids, depth: 2 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 0, enqueued: 2 });
  });

  it('is refused with another body: payload, count, delay, cost or attempts', async () => {
    const { client } = await testQueue();
    await client.enqueue(once);
    for (const jobs of [
      newJobs(1),
      newJobs(3),
      newJobs(2, { payload: '0' }),
      newJobs(2, { delayMs: 1 }),
      newJobs(2, { cost: 2 }),
      newJobs(2, { maxAttempts: 4 }),
      newJobs(2, { type: 'echo2' }),
      newJobs(2, { timeoutSeconds: 1 }),
    ]) {
      expect(await client.enqueue({ ...once, jobs })).toEqual({ outcome: 'conflict' });
    }
    // Where one job ends and the next begins is part of the body.
    const split = [newJob({ payload: '"a' }), newJob({ payload: 'b"' })];
    await client.enqueue({ ...once, idempotencyKey: 'split', jobs: split });
    expect(
      await client.enqueue({
        ...once,
        idempotencyKey: 'split',
        jobs: [newJob({ payload: '"' }), newJob({ payload: 'ab"' })],
      }),
    ).toEqual({ outcome: 'conflict' });
  });

  it('is a tenant’s own, and never one of the queue’s nonces', async () => {
    const { client } = await testQueue();
    await client.enqueue(once);
    expect(await client.enqueue({ ...once, tenant: 'globex' })).toMatchObject({ outcome: 'accepted' });
    expect(await client.enqueue({ ...once, idempotencyKey: 'n:0' })).toMatchObject({ outcome: 'accepted' });
  });

  it('is free again once its time is over, whether swept or not', async () => {
    const queue = await testQueue({ idempotencyMs: 100_000 });
    const { client } = queue;
    await client.enqueue(once);
    await pass(queue, 99_000);
    expect(await client.enqueue(once)).toMatchObject({ outcome: 'repeated' });
    await pass(queue, 1_001);
    expect(await client.enqueue(once)).toMatchObject({ outcome: 'accepted', depth: 4 });
    expect(await client.enqueue(once)).toMatchObject({ outcome: 'repeated', depth: 4 });
    await pass(queue, 100_001);
    await client.tick();
    expect(await keysOf(queue)).not.toContain(queue.keys.once('acme'));
    expect(await queue.redis.zcard(queue.keys.onces)).toBe(0);
  });

  it('outlives a pause of the tenant, not its removal', async () => {
    const { client } = await testQueue();
    await client.enqueue(once);
    await client.purge('acme', 'jobs');
    expect(await client.enqueue(once)).toMatchObject({ outcome: 'repeated' });
    await client.purge('acme', 'everything');
    expect(await client.enqueue(once)).toMatchObject({ outcome: 'accepted', depth: 2 });
  });
});

describe('a lost reply', () => {
  it.each([undefined, 'key'])('is made up for by one more try that admits nothing twice (key: %s)', async (key) => {
    const queue = await testQueue();
    const client = createQueueClient({ redis: losingReplies(queue.redis, 1), queue: queue.name, shard: 0 });
    // The reply that got lost may have asked for a dispatcher, so the second one does.
    const answer = await client.enqueue({ tenant: 'acme', idempotencyKey: key, jobs: newJobs(3) });
    expect(answer).toMatchObject({ outcome: 'accepted', depth: 3, dispatch: true });
    expect(await queue.client.inspect('acme')).toMatchObject({ ready: 3, enqueued: 3 });
    const visit = await claimOne(queue.client);
    expect(answer.outcome === 'accepted' && answer.ids[0]).toBe(visit.jobs[0]?.id);
  });

  it('is an error when the second is lost too, and the jobs are there once', async () => {
    const queue = await testQueue();
    const client = createQueueClient({ redis: losingReplies(queue.redis, 2), queue: queue.name, shard: 0 });
    await expect(client.enqueue({ tenant: 'acme', jobs: newJobs(3) })).rejects.toMatchObject({
      code: 'queue_unavailable',
      retryable: true,
    });
    expect(await queue.client.inspect('acme')).toMatchObject({ ready: 3 });
  });

  it('leaves no nonce behind after a minute', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme');
    expect(await keysOf(queue)).toContain(queue.keys.once('acme'));
    await pass(queue, 60_001);
    await queue.client.tick();
    expect(await keysOf(queue)).not.toContain(queue.keys.once('acme'));
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

describe('what is stored', () => {
  const ids = [
    'a:b{c}|*%',
    'a:b{c}|*',
    '🦊🦊',
    '🦊',
    '0',
    '00',
    '123456789012345',
    'ready:acme',
    'acme',
    ' acme',
    'acme ',
    'Acme',
    '%s%d',
    '𝕏'.repeat(128),
    'x'.repeat(128),
    '}',
    '{rota:q:0}',
  ];

  it('keeps odd tenant ids apart and as they are', async () => {
    const { client } = await testQueue();
    for (const [i, tenant] of ids.entries()) await put(client, tenant, 1, { payload: JSON.stringify([i, tenant]) });
    const seen = new Map<string, string>();
    for (const lease of await claimSome(client, 40)) {
      const visit = await openLease(client, lease);
      expect(visit.tenant).toBe(lease.tenant);
      expect(visit.jobs).toHaveLength(1);
      seen.set(visit.tenant, visit.jobs[0]?.payload ?? '');
      await client.settle(visit, allDone(visit), { claimNext: false });
    }
    expect([...seen.keys()]).toEqual(ids);
    for (const [i, tenant] of ids.entries()) {
      expect(JSON.parse(seen.get(tenant) ?? '')).toEqual([i, tenant]);
      expect(await client.inspect(tenant)).toMatchObject({ tenant, ready: 0, done: 1 });
    }
  });

  it('gives payload bytes back as they came', async () => {
    const { client } = await testQueue();
    const texts = [
      '[]',
      '{}',
      'null',
      '""',
      '[[],{},{"a":[]}]',
      '1.0e2',
      '12345678901234567890.123',
      '-0',
      '"\u2028 \u2029 \\u2028"',
      JSON.stringify('a:b|c,d;e\\0\u0000\t\r\n"quotes" {x} %s $1'),
      '{\n  "formatted":\n\n true\n}',
      '"\\ud800"',
      JSON.stringify('🦊'.repeat(20)),
      JSON.stringify('x'.repeat(262_142)),
      JSON.stringify('é'.repeat(131_071)),
    ];
    await client.enqueue({ tenant: 'acme', jobs: texts.map((payload) => newJob({ payload })) });
    const seen: string[] = [];
    let next = await client.claim(1);
    while (next.outcome === 'claimed') {
      const [lease] = next.visits;
      if (lease === undefined) break;
      const visit = await openLease(client, lease);
      seen.push(...payloads(visit));
      await client.settle(visit, allDone(visit), { claimNext: false });
      next = await client.claim(1);
    }
    expect(seen).toEqual(texts);
  });

  it('keeps type, attempts, timeout and times of a job, at their bounds', async () => {
    const { client } = await testQueue();
    const given = { type: 'a-type.with_all', maxAttempts: 100, timeoutSeconds: 899, cost: 1_000 };
    await put(client, 'acme', 1, given);
    const { jobs, nowMs } = await claimOne(client);
    expect(jobs[0]).toMatchObject({ index: 1, type: given.type, attempt: 1, maxAttempts: 100, timeoutSeconds: 899 });
    expect(jobs[0]?.readySinceMs).toBe(jobs[0]?.enqueuedAtMs);
    expect(nowMs - (jobs[0]?.enqueuedAtMs ?? 0)).toBeGreaterThanOrEqual(0);
    expect(nowMs - (jobs[0]?.enqueuedAtMs ?? 0)).toBeLessThan(10_000);
  });

  it('counts the bytes that wait', async () => {
    const { client } = await testQueue();
    await put(client, 'acme', 2, { payload: '"1234"' });
    await put(client, 'acme', 1, { payload: '"é"', delayMs: 60_000 });
    const bytes = 2 * 'echo\n"1234"'.length + 'echo\n"e"'.length + 1;
    expect(await client.inspect('acme')).toMatchObject({ bytes });
    expect(await client.stats()).toMatchObject({ bytes });
    await claimOne(client);
    expect(await client.stats()).toMatchObject({ bytes: bytes - 'echo\n"1234"'.length });
  });

  it('holds a batch of 500 jobs in order', async () => {
    const { client } = await testQueue({ quantum: 1_000, maxVisitMs: 600_000 });
    await learn(client, ['acme'], 1);
    await put(client, 'acme', 500);
    expect(payloads(await claimOne(client))).toEqual(Array.from({ length: 500 }, (_, i) => String(i)));
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
