import { expect, it } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { snapshot } from '../support/keyspace.ts';
import { losingReplies } from '../support/lost-reply.ts';
import { peekTenant } from '../support/peek.ts';
import { claimOne, testQueue } from '../support/queue.ts';
import { allDone, claimSome, openLease, pass, put } from '../support/visits.ts';

async function claimed() {
  const queue = await testQueue();
  await put(queue.client, 'acme', 3);
  const [lease] = await claimSome(queue.client, 1);
  if (lease === undefined) throw new Error('nothing was claimed');
  return { queue, client: queue.client, lease };
}

it('gives the lease’s jobs and a full lease time', async () => {
  const { client, lease } = await claimed();
  const visit = await openLease(client, lease);
  expect(visit).toMatchObject({ leaseId: lease.leaseId, token: lease.token, tenant: 'acme', visit: 1, lanes: 1 });
  expect(visit.jobs).toHaveLength(lease.jobs);
  expect(visit.expiresAtMs).toBe(visit.nowMs + 60_000);
  expect(await client.stats()).toMatchObject({ visitsInFlight: 1, visitsUnopened: 0 });
});

it('opens once, however many invocations come for it', async () => {
  const { client, lease } = await claimed();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => client.open(lease, `invocation ${i}`)));
  expect(answers.filter(({ outcome }) => outcome === 'opened')).toHaveLength(1);
  expect(answers.filter(({ outcome }) => outcome === 'already_open')).toHaveLength(19);
});

it('opens again for the same invocation, with the jobs that are not settled yet', async () => {
  const queue = await testQueue({ quantum: 3 });
  const { client } = queue;
  await put(client, 'acme', 1);
  const [first] = await claimSome(client, 1);
  if (first === undefined) return;
  const one = await openLease(client, first);
  await client.settle(one, allDone(one), { claimNext: false });
  await put(client, 'acme', 3);
  const [lease] = await claimSome(client, 1);
  if (lease === undefined) return;
  const visit = await openLease(client, lease, 'n');
  expect((await openLease(client, lease, 'n')).jobs).toEqual(visit.jobs);
  await client.settle(visit, [{ index: 2, result: 'done', durationMs: 1 }], { claimNext: false });
  const again = await openLease(client, lease, 'n');
  expect(again.jobs).toEqual(visit.jobs.filter(({ index }) => index !== 2));
});

it('makes up for a lost reply', async () => {
  const { queue, lease } = await claimed();
  const client = createQueueClient({ redis: losingReplies(queue.redis, 1), queue: queue.name, shard: 0 });
  expect(await client.open(lease, 'n')).toMatchObject({ outcome: 'opened', visit: { jobs: [{ index: 1 }] } });
});

it('is gone with a wrong token, after a release, a lapse, an end or a removal, and nothing changes', async () => {
  const { queue, client, lease } = await claimed();
  const gone = async (token = lease.token) => {
    const before = await snapshot(queue);
    expect(await client.open({ leaseId: lease.leaseId, token }, 'n')).toEqual({ outcome: 'gone' });
    expect(await snapshot(queue)).toEqual(before);
  };
  await gone('0'.repeat(24));
  await gone('');
  await client.release(lease);
  await gone();
  const [lapsed, ended] = [await claimSome(client, 1), await claimOne(client)];
  await client.settle(ended, allDone(ended), { claimNext: false });
  await pass(queue, 20_000);
  await client.tick();
  const removed = await claimSome(client, 1);
  await client.purge('acme', 'everything');
  for (const each of [...lapsed, ended, ...removed]) {
    expect(await client.open(each, 'nonce')).toEqual({ outcome: 'gone' });
  }
});

it('opens late as long as the lease was not reaped', async () => {
  const { queue, client, lease } = await claimed();
  await pass(queue, 30_000);
  expect(await client.open(lease, 'n')).toMatchObject({ outcome: 'opened' });
  expect(await client.tick()).toMatchObject({ lapsed: 0, crashed: 0 });
});

it('ends a row of refused invocations', async () => {
  const { queue, client, lease } = await claimed();
  await client.release(lease);
  const [second] = await claimSome(client, 1);
  if (second === undefined) return;
  await client.release(second);
  expect((await peekTenant(queue.redis, queue.keys.tenant('acme')))?.refused).toBe(2);
  const [third] = await claimSome(client, 1);
  if (third === undefined) return;
  await openLease(client, third);
  expect((await peekTenant(queue.redis, queue.keys.tenant('acme')))?.refused).toBe(0);
});
