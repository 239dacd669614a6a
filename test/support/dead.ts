import { expect } from 'vitest';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import type { TestQueue } from './queue.ts';
import type { Stack } from './stack.ts';
import { put } from './visits.ts';

/** Lets so many jobs of a tenant die, numbered by their payloads; returns their ids in that order. */
export async function bury({ client }: Pick<TestQueue, 'client'>, tenant: string, count: number): Promise<string[]> {
  await put(client, tenant, count);
  const ids: string[] = [];
  while (ids.length < count) {
    const { visits } = await client.claim(1);
    const [lease] = visits;
    if (!lease) throw new Error(`only ${ids.length} of ${count} could be claimed`);
    const opened = await client.open(lease, 'nonce');
    if (opened.outcome !== 'opened') throw new Error(opened.outcome);
    const { jobs } = opened.visit;
    ids.push(...jobs.map(({ id }) => id));
    const results = jobs.map(({ index }) => ({ index, result: 'dead' as const, durationMs: 1, error: 'no' }));
    await client.settle(opened.visit, results, { claimNext: false });
  }
  return ids;
}

/** Payloads of the dead, oldest first. */
export const deadOf = async (client: QueueClient, tenant: string): Promise<string[]> =>
  (await client.deadLetters(tenant, 1_000)).entries.map(({ payload }) => payload).toReversed();

/** Lets a job die on a running stack, and gives the dead letter that id. */
export async function buryAs(stack: Stack, tenant: string, id: string): Promise<void> {
  const { dead } = await stack.tenant(tenant);
  await stack.enqueue(tenant, [{ type: 'fail', payload: { times: 1 }, maxAttempts: 1 }]);
  await expect.poll(() => stack.tenant(tenant)).toMatchObject({ dead: dead + 1 });
  const letter = await stack.redis.lindexBuffer(stack.keys.dead(tenant), 0);
  if (!letter) throw new Error(`${tenant} has no dead letter`);
  Buffer.from(id.split('-')[1] ?? '', 'hex').copy(letter, 8 + letter.readUInt16BE(6) + 20);
  await stack.redis.lset(stack.keys.dead(tenant), 0, letter);
}
