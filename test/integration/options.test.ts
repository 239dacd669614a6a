import { expect, test } from 'vitest';
import { jobsOf, startStack } from '../support/stack.ts';

/** Settings that change what the functions do, in one stack: each test is about one of them. */
const stack = await startStack({ 'rota.redisAuth': 'password', 'rota.tenantFrom': 'account.id' });

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

const post = (body: unknown) => stack.call('POST', '/v1/jobs', body);
const job = (id: unknown) => ({ type: 'echo', payload: { account: { id } } });

test('takes the tenant from the payloads where the request names none', async () => {
  expect(await post({ jobs: [job('né:1'), job('né:1')] })).toMatchObject({ status: 202, body: { tenant: 'né:1' } });
  expect(await post({ jobs: [job('a'), { type: 'echo', payload: {} }] })).toMatchObject({
    status: 400,
    body: { errors: [{ in: 'body', path: 'jobs[1].payload.account.id' }] },
  });
  expect(await post({ tenant: 'b', jobs: [job('a')] })).toMatchObject({ status: 400 });
  expect(await post({ tenant: 'b', jobs: [{ type: 'echo', payload: {} }] })).toMatchObject({ status: 202 });
});
