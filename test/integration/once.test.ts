import { expect, test, vi } from 'vitest';
import { startRecorder } from '../support/recorder.ts';
import { startStack } from '../support/stack.ts';

const stack = await startStack();
const recorder = await startRecorder();
const jobs = (count: number) => Array.from({ length: count }, () => recorder.job());

/** Each of these jobs has called once, and no other has since `before` calls. */
function expectEachOnce(ids: readonly string[], before: number): void {
  const called = recorder.calls.slice(before).map(({ jobId }) => jobId);
  expect(called).toHaveLength(ids.length);
  expect(new Set(called)).toEqual(new Set(ids));
}

test('runs a job once whose visit Lambda delivers twice', async () => {
  const release = recorder.hold();
  stack.invokeTwice('process', 10);
  const ids = await stack.enqueue('twice', jobs(10));
  await vi.waitFor(() => expect(recorder.calls).toHaveLength(10), { timeout: 10_000 });
  // The second delivery comes while the first is at work, and again nothing happens.
  const refusals = () => stack.logs('process').filter((line) => line.includes('"because":"already_open"'));
  await vi.waitFor(() => expect(refusals()).toHaveLength(10), { timeout: 10_000 });
  release();
  await stack.drained();
  expectEachOnce(ids, 0);
});

test('serves nothing twice when a schedule fires twice', async () => {
  const before = recorder.calls.length;
  await stack.call('POST', '/v1/tenants/paused/pause');
  const ids = await stack.enqueue('paused', jobs(500));
  const release = recorder.hold();
  await stack.call('POST', '/v1/tenants/paused/resume');
  const alive = stack.pendingEvents('dispatch');
  stack.fire('dispatch');
  stack.fire('dispatch');
  await vi.waitFor(() => expect(stack.environments('dispatch').length).toBe(alive + 2), { timeout: 20_000 });
  // All of them are there, and most of the jobs still to be claimed.
  expect((await stack.queueView()).depth).toBeGreaterThan(400);
  release();
  await stack.drained();
  expectEachOnce(ids, before);
});

test('runs exactly 10,000 jobs of one tenant on 40 workers, none twice', async () => {
  const before = recorder.calls.length;
  await stack.subscribe('acme', { plan: 'growth' });
  let most = 0;
  const ids = await stack.enqueue('acme', jobs(10_000));
  await vi.waitFor(
    async () => {
      const { depth, inFlight, visitsInFlight } = await stack.queueView();
      most = Math.max(most, visitsInFlight);
      expect(depth + inFlight).toBe(0);
    },
    { timeout: 100_000, interval: 50 },
  );
  expect(most).toBe(40);
  expectEachOnce(ids, before);
  expect(await stack.tenant('acme')).toMatchObject({ served: 10_000, done: 10_000, failed: 0, dead: 0 });
  expect(stack.problems).toEqual([]);
});
