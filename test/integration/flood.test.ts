import { expect, test, vi } from 'vitest';
import { jobsOf, startStack } from '../support/stack.ts';

// With more visits at once the flood gets more jobs while the small ones' last visits run: one visit of 4 for each slot.
const CAPACITY = 20;
const stack = await startStack();
const jobs = (count: number) => jobsOf(count, 'sleep', { ms: 200 });

test('lets two small tenants finish before the one that floods has had 300 jobs since they came', async () => {
  const small = ['globex', 'initech'];
  await stack.configure({ capacity: CAPACITY });
  await stack.subscribe('acme', { plan: 'free', maxDepth: 100_000 });
  for (const tenant of small) await stack.subscribe(tenant, { plan: 'free' });
  await stack.enqueue('acme', jobs(100_000));
  await vi.waitFor(async () => expect(await stack.queueView()).toMatchObject({ visitsInFlight: CAPACITY }), {
    timeout: 20_000,
  });

  const { served: before } = await stack.tenant('acme');
  await Promise.all(small.map((tenant) => stack.enqueue(tenant, jobs(100))));
  await vi.waitFor(
    async () => {
      for (const tenant of small) expect(await stack.tenant(tenant)).toMatchObject({ done: 100, failed: 0 });
    },
    { timeout: 30_000, interval: 10 },
  );
  const acme = await stack.tenant('acme');
  expect(acme.served - before).toBeLessThan(300);
  // In a single list the small ones would have come after all of these.
  expect(acme.depth).toBeGreaterThan(90_000);
});
