import { expect, it } from 'vitest';
import { claimOne, testQueue } from '../support/queue.ts';
import { newJobs } from '../support/queue-fixture.ts';

it('a job goes its whole way', async () => {
  const { client } = await testQueue();
  expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(3, { payload: '{"a":[]}' }) })).toMatchObject({
    outcome: 'accepted',
    depth: 3,
    dispatch: true,
  });
  const visit = await claimOne(client);
  expect(visit).toMatchObject({ tenant: 'acme', lanes: 1, visit: 1 });
  expect(visit.jobs).toHaveLength(1);
  expect(visit.jobs[0]).toMatchObject({ type: 'echo', payload: '{"a":[]}', attempt: 1, maxAttempts: 5 });
  const next = await client.settle(visit, [{ index: 1, result: 'done', durationMs: 10 }], { claimNext: true });
  expect(next).toMatchObject({ outcome: 'continued', visit: { visit: 2, tenant: 'acme' } });
  if (next.outcome !== 'continued') return;
  expect(next.visit.jobs).toHaveLength(2);
  expect(await client.extend(next.visit)).toMatchObject({ outcome: 'extended', yield: false });
  expect(
    await client.settle(
      next.visit,
      [
        { index: 1, result: 'failed', durationMs: 5, retryDelayMs: 0, error: 'no' },
        { index: 2, result: 'done', durationMs: 5 },
      ],
      { claimNext: true },
    ),
  ).toEqual({ outcome: 'ended' });
  expect(await client.tick()).toMatchObject({ promoted: 1 });
  const last = await claimOne(client);
  expect(last.jobs[0]).toMatchObject({ attempt: 2 });
  expect(await client.settle(last, [{ index: 1, result: 'given_back' }], { claimNext: false })).toEqual({
    outcome: 'ended',
  });
});
