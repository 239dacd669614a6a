import { describe, expect, it } from 'vitest';
import type { Full } from '../../functions/lib/domain/outcomes.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { snapshot } from '../support/keyspace.ts';
import { testQueue } from '../support/queue.ts';
import { newJob, newJobs } from '../support/queue-fixture.ts';
import { put } from '../support/visits.ts';

/** Type, line feed and payload. */
const BODY_BYTES = 'echo\n'.length;
const sized = (bytes: number) => newJob({ payload: '1'.repeat(bytes - BODY_BYTES) });

async function refusal(client: QueueClient, tenant: string, jobs = newJobs(1)): Promise<Partial<Full>> {
  const answer = await client.enqueue({ tenant, jobs });
  if (answer.outcome !== 'full') throw new Error(answer.outcome);
  return answer;
}

describe('maxBytes', () => {
  it('counts the payloads that wait, and admits up to the last byte', async () => {
    const queue = await testQueue();
    const { client } = queue;
    await client.subscribe('acme', { maxBytes: 100 });
    await client.enqueue({ tenant: 'acme', jobs: [sized(40), sized(40)] });
    const before = await snapshot(queue);
    expect(await refusal(client, 'acme', [sized(10), sized(10), sized(1_000)])).toMatchObject({
      cap: 'maxBytes',
      used: 80,
      limit: 100,
      needed: 1_020,
      waiting: 2,
      room: 2,
    });
    expect(await snapshot(queue)).toEqual(before);
    expect(await client.enqueue({ tenant: 'acme', jobs: [sized(10), sized(10)] })).toMatchObject({
      outcome: 'accepted',
    });
    // What a visit has taken makes room.
    await client.claim(1);
    expect(await client.enqueue({ tenant: 'acme', jobs: [sized(40)] })).toMatchObject({ outcome: 'accepted' });
  });

  it("is also a plan's, and acts at once in both directions", async () => {
    const free = { weight: 1, maxDepth: 100, maxConcurrency: 50, maxBytes: 20 };
    const { client } = await testQueue({ plans: { free } });
    expect(await refusal(client, 'acme', [sized(21)])).toMatchObject({ cap: 'maxBytes', limit: 20 });
    await client.subscribe('acme', { maxBytes: 40 });
    await client.enqueue({ tenant: 'acme', jobs: [sized(40)] });
    await client.subscribe('acme', {});
    expect(await refusal(client, 'acme', [sized(6)])).toMatchObject({ cap: 'maxBytes', used: 40, limit: 20, room: 0 });
  });
});

describe('the caps of the queue', () => {
  it('stop everybody, whoever has filled it', async () => {
    const { client } = await testQueue({ maxQueueDepth: 5 });
    await put(client, 'acme', 3);
    await put(client, 'globex', 1, { delayMs: 60_000 });
    expect(await refusal(client, 'initech', newJobs(3))).toMatchObject({
      cap: 'maxQueueDepth',
      used: 4,
      limit: 5,
      needed: 3,
      waiting: 4,
      depth: 0,
      room: 1,
    });
    await put(client, 'initech', 1);
  });

  it('count bytes as well', async () => {
    const { client } = await testQueue({ maxQueueBytes: 100 });
    await client.enqueue({ tenant: 'acme', jobs: [sized(90)] });
    expect(await refusal(client, 'globex', [sized(11)])).toMatchObject({ cap: 'maxQueueBytes', used: 90, room: 0 });
  });

  it('refuse nothing that comes back', async () => {
    const queue = await testQueue({ maxQueueDepth: 1 });
    await put(queue.client, 'acme', 1);
    const { visits } = await queue.client.claim(1);
    await put(queue.client, 'globex', 1);
    const [lease] = visits;
    if (!lease) throw new Error('there is a visit');
    expect(await queue.client.release(lease)).toMatchObject({ outcome: 'released' });
    expect(await queue.client.stats()).toMatchObject({ ready: 2 });
  });

  it('tell the cap of the tenant first, which is the one that it can do something about', async () => {
    const { client } = await testQueue({ maxQueueDepth: 1 });
    await client.subscribe('acme', { maxDepth: 1 });
    expect(await refusal(client, 'acme', newJobs(2))).toMatchObject({ cap: 'maxDepth', room: 1 });
  });
});
