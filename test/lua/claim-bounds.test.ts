import { describe, expect, it } from 'vitest';
import { testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';
import { allDone, claimSome, learn, openLease, pass, put } from '../support/visits.ts';

describe('lanes', () => {
  it('are as many as run at once, but no more than the visit has jobs', async () => {
    const { client } = await testQueue({ visitConcurrency: 4 });
    await learn(client, ['many', 'few']);
    await put(client, 'many', 4);
    await put(client, 'few', 3);
    const visits = await claimSome(client, 2);
    expect(visits.map(({ tenant, lanes }) => [tenant, lanes])).toEqual([
      ['many', 4],
      ['few', 3],
    ]);
  });

  it('never pass maxConcurrency, and the tenant leaves the rotation until a visit ends', async () => {
    const { client } = await testQueue({ visitConcurrency: 4 });
    await client.subscribe('acme', { maxConcurrency: 6 });
    await learn(client, ['acme']);
    await put(client, 'acme', 40);
    const visits = await claimSome(client, 10);
    expect(visits.map(({ lanes }) => lanes)).toEqual([4, 2]);
    expect(await client.inspect('acme')).toMatchObject({ lanes: 6, held: ['concurrency'], visitsAhead: null });
    const [first] = visits;
    if (!first) return;
    const visit = await openLease(client, first);
    await client.settle(visit, allDone(visit).slice(1), { claimNext: false });
    expect(await client.claim(10)).toMatchObject({ outcome: 'empty' });
    await client.settle(visit, allDone(visit), { claimNext: false });
    expect(await client.inspect('acme')).toMatchObject({ lanes: 2, held: [], visitsAhead: 0 });
    expect((await claimSome(client, 10)).map(({ lanes }) => lanes)).toEqual([4]);
  });

  it('never pass maxConcurrency under 40 claims at once', async () => {
    const { client } = await testQueue();
    await client.subscribe('acme', { maxConcurrency: 2 });
    await put(client, 'acme', 100);
    const claims = await Promise.all(Array.from({ length: 40 }, () => client.claim(5)));
    expect(claims.flatMap(({ visits }) => visits)).toHaveLength(2);
  });

  it('are none at a maxConcurrency of 0: its jobs wait', async () => {
    const { client } = await testQueue();
    await client.subscribe('acme', { maxConcurrency: 0 });
    await put(client, 'acme', 3);
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty', rotation: 0 });
    expect(await client.inspect('acme')).toMatchObject({ ready: 3, held: ['concurrency'] });
  });
});

describe('capacity', () => {
  it('is never passed, however many claim at once', async () => {
    const { client } = await testQueue({ capacity: 10 });
    for (let i = 0; i < 20; i++) await put(client, `t${i}`, 5);
    const claims = await Promise.all(Array.from({ length: 40 }, () => client.claim(3)));
    expect(claims.flatMap(({ visits }) => visits)).toHaveLength(10);
    expect(await client.claim(1)).toMatchObject({ outcome: 'no_capacity', visits: [], inFlight: 10, rotation: 20 });
  });

  it('that is overridden at run time counts instead of the configured one', async () => {
    const { client, redis, keys } = await testQueue({ capacity: 10 });
    await put(client, 'acme', 30);
    await redis.hset(keys.config, 'capacity', 2);
    expect(await claimSome(client, 10)).toHaveLength(2);
    await redis.hset(keys.config, 'capacity', 12);
    expect(await claimSome(client, 50)).toHaveLength(10);
  });

  it('gives no visit while the queue is paused', async () => {
    const { client, redis, keys } = await testQueue();
    await redis.hset(keys.config, 'paused', '1');
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(1) })).toMatchObject({ dispatch: false });
    expect(await client.claim(1)).toMatchObject({ outcome: 'paused', rotation: 1 });
    await redis.hdel(keys.config, 'paused');
    expect(await client.claim(1)).toMatchObject({ outcome: 'claimed' });
  });

  it('gives no further visit while more leases than the limit are unopened for over 2 s', async () => {
    const queue = await testQueue({ unopenedLimit: 1 });
    const { client } = queue;
    await put(client, 'acme', 10);
    const [first] = await claimSome(client, 2);
    if (!first) return;
    await pass(queue, 1_000);
    expect(await claimSome(client, 1)).toHaveLength(1);
    await pass(queue, 2_001);
    expect(await client.claim(1)).toMatchObject({ outcome: 'unopened', inFlight: 3 });
    await openLease(client, first);
    expect(await client.claim(1)).toMatchObject({ outcome: 'unopened' });
    const { visits } = queue.keys;
    expect(await queue.redis.zcard(visits)).toBe(1);
    await queue.client.tick();
    await pass(queue, 18_000);
    await queue.client.tick();
    expect(await claimSome(client, 1)).toHaveLength(1);
  });
});
