import { expect, test } from 'vitest';
import { Pool } from '../../infra/local/pool.ts';

test('answers what still waits when a pool stops, and what comes later, without starting anything', async () => {
  const pool = new Pool(
    {
      name: 'never',
      arn: 'arn',
      handler: 'index.handler',
      taskRoot: '.',
      runtime: '',
      memoryMb: 128,
      timeoutMs: 1_000,
      env: {},
    },
    { reservedConcurrency: undefined, mostEnvironments: 0, idleMs: 1_000 },
    { onLog: () => undefined, onMetric: () => undefined, variables: () => ({}) },
  );
  const early = pool.invoke({ requestId: 'early', payload: '{}' });
  await pool.stop();
  const late = pool.invoke({ requestId: 'late', payload: '{}' });
  for (const answer of [early, late]) {
    expect(await answer).toMatchObject({ result: { functionError: 'Unhandled' }, environment: undefined });
  }
  expect(pool.environments).toEqual([]);
});
