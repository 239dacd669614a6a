import { expect, test, vi } from 'vitest';
import { queueMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import { valueOf } from '../support/emf.ts';
import { checkInvariants } from '../support/invariants.ts';
import { startRecorder } from '../support/recorder.ts';
import { lookAt } from '../support/monitor.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const LEASE_MS = 5_000;
const CAPACITY = 8;

const stack = await startStack();
const recorder = await startRecorder();
const tenants = ['acme', 'globex', 'initech'];
await stack.configure({ leaseMs: LEASE_MS, openMs: LEASE_MS, capacity: CAPACITY });

/** Enqueues jobs of three tenants and waits until every slot is busy with one, held by the recorder. */
async function busyStack(jobsEach: number) {
  const before = recorder.calls.length;
  const release = recorder.hold();
  const jobs = Array.from({ length: jobsEach }, () => recorder.job());
  const ids = (await Promise.all(tenants.map((tenant) => stack.enqueue(tenant, jobs)))).flat();
  await vi.waitFor(() => expect(recorder.calls.length - before).toBe(CAPACITY), { timeout: 20_000 });
  return { ids, release };
}

/** Everything has run, and what the queue says of itself is what there is. */
async function expectTruth(ids: readonly string[], withinMs: number): Promise<void> {
  await stack.drained(withinMs);
  const runs = recorder.runs();
  expect(ids.filter((id) => !runs.has(id))).toEqual([]);
  expect(await stack.queueView()).toMatchObject({ rotation: 0, visitsInFlight: 0, visitsUnopened: 0, dead: 0 });
  expect(await checkInvariants(stack.redis, stack.queue)).toEqual([]);
}

test.each([1, 3])('runs every job after kill -9 of %i workers under load', async (count) => {
  const { ids, release } = await busyStack(200);
  expect(await stack.kill('process', count)).toBe(count);
  release();
  await expectTruth(ids, LEASE_MS + 5_000);
  // Only what the killed ones had begun ran again. (One of them may have been about to begin.)
  const again = [...recorder.runs()].filter(([id, runs]) => runs > 1 && ids.includes(id));
  expect(again.length).toBeGreaterThan(0);
  expect(again.length).toBeLessThanOrEqual(count);
});

test('goes on without the dispatcher that was killed, and an enqueue brings another', async () => {
  const { ids, release } = await busyStack(200);
  expect(await stack.kill('dispatch', 8)).toBeGreaterThan(0);
  release();
  // The workers go from visit to visit by themselves.
  await expectTruth(ids, LEASE_MS + 5_000);
  await vi.waitFor(async () => expect(await stack.queueView()).toMatchObject({ dispatcherAlive: false }), {
    timeout: 10_000,
  });
  expect(stack.environments('dispatch')).toEqual([]);
  await expectTruth(await stack.enqueue('acme', [recorder.job()]), LEASE_MS + 5_000);
});

test('recovers at the next schedule when dispatcher and workers die together', async () => {
  const { ids, release } = await busyStack(20);
  const [killed] = await Promise.all([stack.kill('process', CAPACITY), stack.kill('dispatch', 8)]);
  expect(killed).toBe(CAPACITY);
  release();
  // Nobody is left to see the leases end.
  await vi.waitFor(async () => expect(await stack.queueView()).toMatchObject({ dispatcherAlive: false }), {
    timeout: 10_000,
  });
  expect(await checkInvariants(stack.redis, stack.queue)).toEqual([]);
  stack.fire('dispatch');
  await expectTruth(ids, LEASE_MS + 5_000);
});

test('counts the same after kill -9 of the functions that admit jobs', async () => {
  const answers: number[] = [];
  const admitted: string[] = [];
  const enqueue = async () => {
    const jobs = [recorder.job()];
    const { status, body } = await stack.call<{ jobs: { id: string }[] }>('POST', '/v1/jobs', { tenant: 'acme', jobs });
    answers.push(status);
    if (status === 202) admitted.push(...body.jobs.map(({ id }) => id));
  };
  const enqueues = Promise.allSettled(Array.from({ length: 200 }, enqueue));
  await vi.waitFor(() => expect(answers.length).toBeGreaterThan(20), { timeout: 10_000, interval: 1 });
  expect(await stack.kill('enqueue', 8)).toBeGreaterThan(0);
  await enqueues;
  expect(answers).toHaveLength(200);
  // Whose function died is told so by the gateway; whether its job was admitted nobody can tell it.
  expect(new Set(answers)).toEqual(new Set([202, 500]));
  await expectTruth(admitted, LEASE_MS + 5_000);
});

test('leaves the sweep nothing to repair, whoever is killed while it looks', async () => {
  const odd = ['other', '~b3RoZXI', 'a"b\\c', 'x{y}:z', '日本', '🦊', '*', 'sp ace'];
  for (const tenant of odd) await stack.enqueue(tenant, jobsOf(100, 'sleep', { ms: 3 }));
  stack.fire('dispatch');
  const differences: number[] = [];
  for (let look = 0; look < 12; look++) {
    const records = await lookAt(stack);
    differences.push(valueOf(records, undefined, queueMetrics.sweepDifferences.name));
    if (look % 3 === 1) await stack.kill('process', 2);
    if (look === 6) await stack.call('DELETE', '/v1/tenants/other');
  }
  expect(differences.every((count) => count === 0)).toBe(true);
  stack.fire('dispatch');
  await stack.drained(60_000);
});
