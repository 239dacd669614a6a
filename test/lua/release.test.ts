import { expect, it } from 'vitest';
import type { Lease } from '../../functions/lib/domain/outcomes.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { rotationOf, snapshot } from '../support/keyspace.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { claimSome, learn, openLease, pass, payloads, put } from '../support/visits.ts';

async function leaseOf(client: QueueClient): Promise<Lease> {
  const [lease] = await claimSome(client, 1);
  if (lease === undefined) throw new Error('nothing was claimed');
  return lease;
}

it('gives jobs, charge, lanes and slot back, and uses no attempt', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await client.subscribe('acme', { weight: 2 });
  await learn(client, ['acme']);
  await put(client, 'acme', 20);
  const before = await client.inspect('acme');
  const turnBefore = await rotationOf(queue);
  const lease = await leaseOf(client);
  expect(await client.inspect('acme')).toMatchObject({ ready: 12, inFlight: 8, lanes: 1, served: 9 });
  expect(await client.release(lease)).toEqual({ outcome: 'released', refusals: 1 });
  expect(await client.inspect('acme')).toEqual({ ...before, nowMs: expect.any(Number), rate: expect.anything() });
  expect((await rotationOf(queue)).map(({ tenant, turn }) => [tenant, turn])).toEqual(
    turnBefore.map(({ tenant, turn }) => [tenant, turn]),
  );
  expect(await client.stats()).toMatchObject({ visitsInFlight: 0, inFlight: 0, ready: 20, served: 1 });
  const visit = await claimOne(client);
  expect(payloads(visit)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(visit.jobs.map(({ attempt }) => attempt)).toEqual(Array(8).fill(1));
});

it('puts the jobs of several visits back in their first order, whichever comes back first', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await learn(client, ['acme']);
  await put(client, 'acme', 14);
  const leases = await claimSome(client, 3);
  for (const lease of [leases[1], leases[2], leases[0]]) if (lease) await client.release(lease);
  await pass(queue, 1_000);
  await client.tick();
  const order: string[] = [];
  for (const lease of await claimSome(client, 4)) order.push(...payloads(await openLease(client, lease)));
  expect(order).toEqual(Array.from({ length: 14 }, (_, i) => String(i)));
});

it('backs off for 1 s after the third refusal in a row, doubling up to 60 s', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 1);
  const backoffs: (number | null)[] = [];
  for (let refusals = 1; refusals <= 10; refusals++) {
    expect(await client.release(await leaseOf(client))).toEqual({ outcome: 'released', refusals });
    const { heldUntilMs, held, nowMs } = await client.inspect('acme');
    backoffs.push(heldUntilMs === null ? null : Math.ceil((heldUntilMs - nowMs) / 1_000));
    expect(held).toEqual(refusals < 3 ? [] : ['backoff']);
    if (refusals < 3) continue;
    expect(await client.claim(1)).toMatchObject({ outcome: 'empty', rotation: 0 });
    await pass(queue, 60_000);
    expect(await client.tick()).toMatchObject({ released: 1 });
  }
  expect(backoffs).toEqual([null, null, 1, 2, 4, 8, 16, 32, 60, 60]);
});

it('lets a tenant that backs off back in when its time has come, not before', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 1);
  for (let refusals = 1; refusals <= 6; refusals++) {
    await client.release(await leaseOf(client));
    if (refusals < 3) continue;
    await pass(queue, 4_000);
    await client.tick();
  }
  // 8 s for the sixth refusal, of which half have passed.
  await put(client, 'acme', 1);
  expect(await client.claim(1)).toMatchObject({ outcome: 'empty' });
  await pass(queue, 4_000);
  await client.tick();
  expect(await client.inspect('acme')).toMatchObject({ held: [], heldUntilMs: null, visitsAhead: 0 });
});

it('is stale for an opened lease, another’s token or a lease that is gone, and nothing changes', async () => {
  const queue = await testQueue();
  const { client } = queue;
  await put(client, 'acme', 3);
  const open = await claimOne(client);
  const unopened = await leaseOf(client);
  const released = await leaseOf(client);
  await client.release(released);
  const before = await snapshot(queue);
  for (const lease of [open, { leaseId: unopened.leaseId, token: open.token }, released]) {
    expect(await client.release(lease)).toEqual({ outcome: 'stale' });
  }
  expect(await snapshot(queue)).toEqual(before);
});

it('refunds by the weight that was charged, though the weight has changed since', async () => {
  const queue = await testQueue();
  const { client, redis, keys } = queue;
  const turn = async () => (await peekTenant(redis, keys.tenant('acme')))?.turn;
  await client.subscribe('acme', { weight: 4 });
  await put(client, 'acme', 2, { cost: 8 });
  await put(client, 'other', 1);
  const lease = await leaseOf(client);
  expect(await turn()).toBe(2);
  await client.subscribe('acme', { weight: 1 });
  expect(await turn()).toBe(8);
  await client.release(lease);
  expect(await turn()).toBe(6);
});

it('wakes a dispatcher', async () => {
  const { client, redis, keys } = await testQueue();
  await put(client, 'acme', 1);
  const lease = await leaseOf(client);
  await redis.del(keys.wake);
  await client.release(lease);
  expect(await redis.llen(keys.wake)).toBe(1);
});
