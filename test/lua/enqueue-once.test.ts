import { describe, expect, it } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { keysOf } from '../support/keyspace.ts';
import { losingReplies } from '../support/lost-reply.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJob, newJobs } from '../support/queue-fixture.ts';
import { allDone, pass, put } from '../support/visits.ts';

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
