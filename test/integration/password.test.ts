import { expect, test } from 'vitest';
import { jobsOf, startStack } from '../support/stack.ts';

const stack = await startStack({ 'rota.redisAuth': 'password' });

test('runs jobs with a password that only the functions can ask for', async () => {
  await stack.enqueue('acme', jobsOf(20, 'echo'));
  expect(await stack.drained()).toMatchObject({ totals: { done: 20 } });

  const user = new URL(stack.functions[0]?.env.ROTA_REDIS_URL ?? '').username;
  const acl = String(await stack.redis.nodes('master')[0]?.call('ACL', 'GETUSER', user));
  expect(acl).not.toContain('nopass');
  const calls = (await stack.calls()).filter(({ action }) => action === 'secretsmanager:GetSecretValue');
  expect(new Set(calls.map(({ caller }) => caller)).size).toBe(stack.functions.length);
  expect(calls.every(({ allowed }) => allowed)).toBe(true);
  expect(stack.problems).toEqual([]);
});
