import { describe, expect, it } from 'vitest';
import type { JobResult, SettleOutcome, Visit } from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { snapshot } from '../support/keyspace.ts';
import { losingReplies } from '../support/lost-reply.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { allDone, allGivenBack, claimSome, failed, learn, pass, payloads, put } from '../support/visits.ts';

const done = (index: number, durationMs = 10): JobResult => ({ index, result: 'done', durationMs });
const dead = (index: number): JobResult => ({ index, result: 'dead', durationMs: 1, error: `e${index}` });
const unfinished = (index: number): JobResult => ({
  index,
  result: 'unfinished',
  durationMs: 10,
  error: 'out of time',
});
const END = { claimNext: false };
const CHAIN = { claimNext: true };

function continued(outcome: SettleOutcome): Visit {
  if (outcome.outcome !== 'continued') throw new Error(`no next visit: ${outcome.outcome}`);
  return outcome.visit;
}

/** A queue whose tenant acme has an open visit of so many jobs, and waiting ones behind. */
async function visited(jobs: number, waiting = 0, given: Parameters<typeof testQueue>[0] = {}) {
  const queue = await testQueue({ quantum: jobs, ...given });
  await learn(queue.client, ['acme'], 1);
  await put(queue.client, 'acme', jobs + waiting);
  const visit = await claimOne(queue.client);
  expect(visit.jobs).toHaveLength(jobs);
  return { queue, client: queue.client, visit };
}

describe('by index', () => {
  it('settles jobs in any order and parts, and ends with the last', async () => {
    const { client, visit } = await visited(5);
    expect(await client.settle(visit, [done(4), done(1)], END)).toEqual({ outcome: 'settled', left: 3, yield: false });
    expect(await client.inspect('acme')).toMatchObject({ inFlight: 3, lanes: 1, done: 3 });
    expect(await client.settle(visit, [done(5)], END)).toMatchObject({ left: 2 });
    expect(await client.settle(visit, [], END)).toMatchObject({ left: 2 });
    expect(await client.settle(visit, [done(2), done(3)], END)).toEqual({ outcome: 'ended' });
    expect(await client.inspect('acme')).toMatchObject({ inFlight: 0, lanes: 0, done: 6, failed: 0, served: 6 });
    expect(await client.stats()).toMatchObject({ visitsInFlight: 0, inFlight: 0, done: 6, late: 0 });
  });

  it('ignores an index that was settled before, in the same call or was never there', async () => {
    const { client, visit } = await visited(3);
    await client.settle(visit, [done(1)], END);
    expect(
      await client.settle(visit, [failed(1), done(2), failed(2), done(0), done(4), done(65_535)], END),
    ).toMatchObject({ outcome: 'settled', left: 1 });
    expect(await client.inspect('acme')).toMatchObject({ done: 3, failed: 0, delayed: 0, inFlight: 1 });
  });

  it('settles a batch of 1,000', async () => {
    const { client, visit } = await visited(999);
    expect(await client.settle(visit, allDone(visit), END)).toEqual({ outcome: 'ended' });
    expect(await client.inspect('acme')).toMatchObject({ done: 1_000, inFlight: 0 });
  });
});

describe('a late settle', () => {
  it('changes nothing but the count of late ones', async () => {
    const { queue, client, visit } = await visited(2, 2);
    await pass(queue, 60_000);
    await client.tick();
    const again = await claimOne(client);
    const late = async (lease: { leaseId: string; token: string }) => {
      const before = await snapshot(queue);
      const counted = (await client.stats()).late;
      expect(await client.settle(lease, allDone(visit), CHAIN)).toEqual({ outcome: 'stale' });
      expect((await client.stats()).late).toBe(counted + 1);
      const after = await snapshot(queue);
      expect({ ...after, [queue.keys.clock]: '' }).toEqual({ ...before, [queue.keys.clock]: '' });
    };
    await late(visit);
    await late({ leaseId: again.leaseId, token: visit.token });
    await late({ leaseId: '0-0000000000000000', token: visit.token });
    const [unopened] = await claimSome(client, 1);
    if (unopened) await late(unopened);
  });
});

describe('failed', () => {
  it('runs again after the delay it is given, before the backlog, with one attempt more', async () => {
    const { queue, client, visit } = await visited(2, 3);
    await client.settle(visit, [failed(1, 30_000), done(2)], END);
    expect(await client.inspect('acme')).toMatchObject({ delayed: 1, ready: 3, inFlight: 0, failed: 1, done: 2 });
    await pass(queue, 29_000);
    expect(await client.tick()).toMatchObject({ promoted: 0 });
    await pass(queue, 1_000);
    expect(await client.tick()).toMatchObject({ promoted: 1 });
    const next = await claimOne(client);
    expect(next.jobs.map(({ payload, attempt }) => [payload, attempt])).toEqual([
      ['0', 2],
      ['2', 1],
    ]);
    expect(next.jobs[0]?.id).toBe(visit.jobs[0]?.id);
    expect(next.jobs[0]?.enqueuedAtMs).toBeLessThan(next.jobs[0]?.readySinceMs ?? 0);
  });

  it('is dead after its last attempt, and stays a dead letter', async () => {
    const { queue, client } = await visited(1);
    await put(client, 'b', 1, { maxAttempts: 3 });
    for (let attempt = 1; attempt <= 3; attempt++) {
      const visit = await claimOne(client);
      expect(visit.jobs[0]).toMatchObject({ attempt, maxAttempts: 3 });
      await client.settle(visit, [failed(1, 0, `boom ${attempt}`)], END);
      await client.tick();
    }
    expect(await client.inspect('b')).toMatchObject({ dead: 1, ready: 0, delayed: 0, inFlight: 0, failed: 3 });
    expect(await client.stats()).toMatchObject({ dead: 1, died: 1, failed: 3, dropped: 0 });
    const letter = await queue.redis.lindexBuffer(queue.keys.dead('b'), 0);
    expect(letter?.toString('latin1')).toContain('boom 3');
    expect(letter?.toString('latin1')).toContain('echo\n0');
  });

  it('is dead at once when its result says so, whatever attempts are left', async () => {
    const { client, visit } = await visited(2);
    await client.settle(visit, [{ index: 1, result: 'dead', durationMs: 5, error: 'never' }, done(2)], END);
    expect(await client.inspect('acme')).toMatchObject({ dead: 1, delayed: 0, failed: 1, done: 2 });
  });

  it.each([
    [3, 5],
    [1, 3],
    [0, 2],
  ])('keeps %i dead letters, the newest, and counts what is dropped of %i', async (deadLetters, count) => {
    const { queue, client, visit } = await visited(count, 0, { deadLetters });
    await client.settle(
      visit,
      visit.jobs.map(({ index }) => dead(index)),
      END,
    );
    expect(await client.inspect('acme')).toMatchObject({ dead: deadLetters });
    expect(await client.stats()).toMatchObject({ dead: deadLetters, died: count, dropped: count - deadLetters });
    const letters = await queue.redis.lrangeBuffer(queue.keys.dead('acme'), 0, -1);
    expect(letters.map((letter) => /e\d/.exec(letter.toString('latin1'))?.[0])).toEqual(
      Array.from({ length: deadLetters }, (_, i) => `e${count - i}`),
    );
  });

  it('drops down to a cap that was lowered since', async () => {
    const { client, visit } = await visited(4, 0, { deadLetters: 10 });
    await client.settle(visit, [dead(1), dead(2), dead(3)], END);
    await client.configure(testConfig({ deadLetters: 2 }));
    await client.settle(visit, [dead(4)], END);
    expect(await client.inspect('acme')).toMatchObject({ dead: 2 });
    expect(await client.stats()).toMatchObject({ dead: 2, died: 4, dropped: 2 });
  });

  it('keeps a kibibyte of the error text', async () => {
    const { queue, client, visit } = await visited(1);
    await client.settle(visit, [{ index: 1, result: 'dead', durationMs: 1, error: 'é'.repeat(3_000) }], END);
    const letter = await queue.redis.lindexBuffer(queue.keys.dead('acme'), 0);
    expect(letter?.readUInt16BE(6)).toBe(1_024);
  });
});

describe('given back', () => {
  it('jobs rejoin ahead of the backlog in their first order, with no attempt used and the charge refunded', async () => {
    const { queue, client, visit } = await visited(4, 2);
    const tenant = () => peekTenant(queue.redis, queue.keys.tenant('acme'));
    expect(await tenant()).toMatchObject({ turn: 4, served: 5 });
    const results: JobResult[] = [
      { index: 4, result: 'given_back' },
      done(1),
      { index: 3, result: 'given_back' },
      done(2),
    ];
    await client.settle(visit, results, END);
    expect(await tenant()).toMatchObject({ turn: 2, served: 3, ready: 4, flight: 0, lanes: 0 });
    const next = await claimOne(client);
    expect(payloads(next)).toEqual(['2', '3', '4', '5']);
    expect(next.jobs.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });

  it('jobs leave the visit going on while others are at work, and each job goes back once', async () => {
    const { client, visit } = await visited(3);
    expect(await client.settle(visit, [{ index: 3, result: 'given_back' }], END)).toMatchObject({ left: 2 });
    expect(await client.settle(visit, [{ index: 3, result: 'given_back' }], END)).toMatchObject({ left: 2 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 1, inFlight: 2, lanes: 1 });
    expect(payloads(await claimOne(client))).toEqual(['2']);
  });

  it('jobs are not refunded into the next busy period', async () => {
    const { queue, client, visit } = await visited(2);
    await client.settle(visit, allGivenBack(visit), END);
    expect(await peekTenant(queue.redis, queue.keys.tenant('acme'))).toMatchObject({ turn: 0, ready: 2 });
  });

  it('jobs come back only after the next visit is claimed, so that another tenant has it', async () => {
    const { client, visit } = await visited(4, 0, { capacity: 1 });
    await put(client, 'small');
    const next = continued(await client.settle(visit, [done(1), ...allGivenBack(visit).slice(1)], CHAIN));
    expect(next).toMatchObject({ tenant: 'small', visit: 2 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 3, inFlight: 0 });
  });
});

describe('unfinished', () => {
  it('jobs use an attempt, rejoin in their place and are not refunded', async () => {
    const { queue, client, visit } = await visited(3, 1);
    await client.settle(visit, [done(1), unfinished(3), unfinished(2)], END);
    expect(await peekTenant(queue.redis, queue.keys.tenant('acme'))).toMatchObject({ turn: 3, served: 4, failed: 2 });
    const next = await claimOne(client);
    expect(next.jobs.map(({ payload, attempt }) => [payload, attempt])).toEqual([
      ['1', 2],
      ['2', 2],
      ['3', 1],
    ]);
  });

  it('jobs die with their last attempt', async () => {
    const { client } = await testQueue();
    await put(client, 'acme', 1, { maxAttempts: 1 });
    await client.settle(await claimOne(client), [unfinished(1)], END);
    expect(await client.inspect('acme')).toMatchObject({ dead: 1, ready: 0, inFlight: 0 });
  });
});

describe('the next visit', () => {
  it('is claimed with the last job under the same lease, with another token and a higher number, already open', async () => {
    const { client, visit } = await visited(2, 2);
    expect(await client.settle(visit, [done(1)], CHAIN)).toMatchObject({ outcome: 'settled' });
    const next = continued(await client.settle(visit, [done(2)], CHAIN));
    expect(next).toMatchObject({ leaseId: visit.leaseId, visit: 2, tenant: 'acme' });
    expect(next.token).not.toBe(visit.token);
    expect(next.expiresAtMs).toBe(next.nowMs + 60_000);
    expect(payloads(next)).toEqual(['2', '3']);
    expect(await client.stats()).toMatchObject({ visitsInFlight: 1, visitsUnopened: 0 });
    expect(await client.extend(visit)).toEqual({ outcome: 'stale' });
    expect(await client.extend(next)).toMatchObject({ outcome: 'extended' });
    expect(await client.settle(next, allDone(next), CHAIN)).toEqual({ outcome: 'ended' });
  });

  it('is given again, the same, when the reply was lost', async () => {
    const { queue, client, visit } = await visited(2, 4);
    const lossy = createQueueClient({ redis: losingReplies(queue.redis, 1), queue: queue.name, shard: 0 });
    const next = continued(await lossy.settle(visit, allDone(visit), CHAIN));
    expect(payloads(next)).toEqual(['2', '3']);
    expect(await client.inspect('acme')).toMatchObject({ ready: 2, inFlight: 2, done: 3 });
    await client.settle(next, [done(1)], CHAIN);
    const once = continued(await client.settle(visit, allDone(visit), CHAIN));
    expect(once.token).toBe(next.token);
    expect(once.jobs.map(({ index, payload }) => [index, payload])).toEqual([[2, '3']]);
    expect(await client.stats()).toMatchObject({ late: 0, done: 4 });
    const third = continued(await client.settle(next, [done(2)], CHAIN));
    // The token before the last one is of no use any more.
    expect(await client.settle(visit, allDone(visit), CHAIN)).toEqual({ outcome: 'stale' });
    expect(payloads(third)).toEqual(['4', '5']);
  });

  it('goes by the fair order, not to the tenant that ended', async () => {
    const { client, visit } = await visited(3, 9);
    await put(client, 'globex', 1);
    expect(continued(await client.settle(visit, allDone(visit), CHAIN)).tenant).toBe('globex');
  });

  it('is not claimed while the queue is paused, above a lowered capacity, or when nothing waits', async () => {
    const { queue, client, visit } = await visited(1, 3);
    const other = await claimOne(client);
    await queue.redis.hset(queue.keys.config, 'capacity', 1);
    expect(await client.settle(visit, allDone(visit), CHAIN)).toEqual({ outcome: 'ended' });
    await queue.redis.hset(queue.keys.config, 'capacity', 9, 'paused', '1');
    expect(await client.settle(other, allDone(other), CHAIN)).toEqual({ outcome: 'ended' });
    await queue.redis.hdel(queue.keys.config, 'paused');
    for (let i = 0; i < 2; i++) {
      const visit2 = await claimOne(client);
      await client.settle(visit2, allDone(visit2), END);
    }
    await put(client, 'acme');
    const last = await claimOne(client);
    expect(await client.settle(last, allDone(last), CHAIN)).toEqual({ outcome: 'ended' });
  });

  it('lets a tenant at its cap have the slot that it freed', async () => {
    const { client, visit } = await visited(1, 2);
    await client.subscribe('acme', { maxConcurrency: 1 });
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
    expect(payloads(continued(await client.settle(visit, allDone(visit), CHAIN)))).toEqual(['1']);
  });
});

describe('the advice to yield', () => {
  it('is given while no slot is free and the head of the rotation has nothing in flight', async () => {
    const { queue, client, visit } = await visited(4, 8, { capacity: 1 });
    const advised = async (index: number) => {
      const settled = await client.settle(visit, [done(index)], CHAIN);
      return settled.outcome === 'settled' && settled.yield;
    };
    expect(await advised(1)).toBe(false);
    await put(client, 'small');
    expect(await advised(2)).toBe(true);
    await queue.redis.hset(queue.keys.config, 'capacity', 2);
    expect(await advised(3)).toBe(false);
  });
});

async function learned(durations: number[]) {
  const { client } = await testQueue();
  for (const durationMs of durations) await learn(client, ['acme'], durationMs);
  return client.inspect('acme');
}

describe('durations', () => {
  it('are unknown before the first job has finished, and then the first one', async () => {
    expect(await learned([])).toMatchObject({ p95Ms: null, meanMs: null });
    expect(await learned([400])).toMatchObject({ p95Ms: 400, meanMs: 400 });
  });

  it('raise the p95 by a quarter of the excess, an eighth at least, and lower it by 1/152', async () => {
    expect(await learned([400, 1_200])).toMatchObject({ p95Ms: 600, meanMs: 450 });
    expect(await learned([400, 401])).toMatchObject({ p95Ms: 450 });
    expect(await learned([152, 1])).toMatchObject({ p95Ms: 151, meanMs: 152 - 151 / 16 });
  });

  it('are learned from failures, not from what was given back', async () => {
    const { client } = await testQueue();
    await put(client, 'acme', 2);
    const visit = await claimOne(client);
    await client.settle(visit, allGivenBack(visit), END);
    expect(await client.inspect('acme')).toMatchObject({ p95Ms: null });
    await client.settle(
      await claimOne(client),
      [{ index: 1, result: 'failed', durationMs: 70, retryDelayMs: 0, error: '' }],
      END,
    );
    expect(await client.inspect('acme')).toMatchObject({ p95Ms: 70 });
  });
});

it('wakes a dispatcher when it frees a slot that someone waits for', async () => {
  const { queue, client, visit } = await visited(1, 3, { capacity: 1 });
  await queue.redis.del(queue.keys.wake);
  await client.extend(visit);
  expect(await queue.redis.llen(queue.keys.wake)).toBe(0);
  await client.settle(visit, allDone(visit), END);
  expect(await queue.redis.llen(queue.keys.wake)).toBe(1);
});
