import { describe, expect, it } from 'vitest';
import { waiting } from '../../functions/tenants/waiting.ts';
import { claimOne, type TestQueue, testQueue } from '../support/queue.ts';
import { claimSome, failed, learn, pass, put } from '../support/visits.ts';

const bounds = { quantum: 4, visitConcurrency: 1, maxVisitMs: 5_000 };
const why = async ({ client }: TestQueue, tenant = 'acme') => waiting(await client.inspect(tenant), bounds);

describe('the next job of a tenant waits', () => {
  it('for nothing, when there is none', async () => {
    expect(await why(await testQueue())).toBeNull();
  });

  it('for its tenant to be resumed', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme');
    await queue.client.pause('acme');
    expect(await why(queue)).toMatchObject({ because: 'paused', visitsAhead: null });
  });

  it('for the queue to be resumed', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme');
    await queue.client.steer({ paused: true });
    expect(await why(queue)).toMatchObject({ because: 'queue_paused' });
  });

  it('for the end of a backoff, after its invocations were refused', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme');
    for (let refusal = 0; refusal < 4; refusal++) {
      const [lease] = await claimSome(queue.client, 1);
      if (!lease) throw new Error('there is a visit');
      await queue.client.release(lease);
      if (refusal === 2) await pass(queue, 1_001);
      await queue.client.tick();
    }
    const told = await why(queue);
    expect(told?.because).toBe('backoff');
    expect(told?.estimatedStartSeconds).toBeGreaterThan(1);
    expect(told?.estimatedStartSeconds).toBeLessThanOrEqual(2);
  });

  it('for a token of its rate', async () => {
    const queue = await testQueue();
    await queue.client.subscribe('acme', { maxJobsPerSecond: 0.1, burst: 1 });
    await put(queue.client, 'acme', 2);
    await claimOne(queue.client);
    const told = await why(queue);
    expect(told?.because).toBe('rate');
    expect(told?.estimatedStartSeconds).toBeGreaterThan(9);
    expect(told?.estimatedStartSeconds).toBeLessThanOrEqual(10);
  });

  it('for a lane of its own', async () => {
    const queue = await testQueue();
    await queue.client.subscribe('acme', { maxConcurrency: 1 });
    await put(queue.client, 'acme', 2);
    await claimOne(queue.client);
    expect(await why(queue)).toMatchObject({ because: 'concurrency', visitsAhead: null });
  });

  it('for its time, delayed or to be tried again', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme', 1, { delayMs: 60_000 });
    expect((await why(queue))?.because).toBe('delayed');
    expect((await why(queue))?.estimatedStartSeconds).toBeGreaterThan(59);
    await put(queue.client, 'globex');
    await queue.client.settle(await claimOne(queue.client), [failed(1, 5_000)], { claimNext: false });
    expect((await why(queue, 'globex'))?.estimatedStartSeconds).toBeGreaterThan(4);
  });

  it('for a dispatcher, where none lives', async () => {
    const queue = await testQueue();
    await put(queue.client, 'acme');
    await queue.redis.del(queue.keys.dispatcher);
    expect(await why(queue)).toMatchObject({ because: 'dispatcher', visitsAhead: 0 });
    await queue.client.markDispatcher('take');
    expect(await why(queue)).toMatchObject({ because: 'turn', visitsAhead: 0 });
  });

  it('for a slot, when it is next', async () => {
    const queue = await testQueue({ capacity: 1 });
    await put(queue.client, 'globex', 2);
    await claimOne(queue.client);
    await put(queue.client, 'acme');
    // It came with a turn below that of globex, which has been served.
    expect(await why(queue)).toMatchObject({ because: 'capacity', visitsAhead: 0 });
  });

  it('for its turn, behind others, and says when that will be', async () => {
    const queue = await testQueue({ capacity: 1 });
    await learn(queue.client, ['a', 'b', 'acme'], 100);
    await pass(queue, 10_000);
    for (const tenant of ['a', 'b', 'acme']) await put(queue.client, tenant, 9);
    await queue.client.markDispatcher('take');
    const told = await why(queue);
    expect(told).toMatchObject({ because: 'turn', visitsAhead: 2 });
    expect(told?.estimatedStartSeconds).toBeGreaterThan(0);
  });
});
