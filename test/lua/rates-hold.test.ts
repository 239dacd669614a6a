import { expect, it } from 'vitest';
import { testQueue } from '../support/queue.ts';
import { runRates } from '../support/rates.ts';

it('rates hold within 5 % beside a flood, which gets all the rest', { timeout: 120_000 }, async () => {
  const { client } = await testQueue();
  const { rates, floodPerSecond } = await runRates(client, { tenants: 10, perSecond: 25, seconds: 4, workers: 4 });
  for (const rate of rates) expect(Math.abs(rate / 25 - 1)).toBeLessThan(0.05);
  expect(floodPerSecond).toBeGreaterThan(0);
});
