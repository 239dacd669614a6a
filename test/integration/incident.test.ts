import { afterEach, expect, test } from 'vitest';
import type { DeadLetterBody } from '../../functions/contract/dead.ts';
import type { WaitingJobBody } from '../../functions/contract/waiting-jobs.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const stack = await startStack();

const auditOf = (operation: string) =>
  stack
    .logs('tenants')
    .filter((line) => line.includes('"event":"audit"'))
    .map((line): unknown => JSON.parse(line))
    .filter((line) => Reflect.get(Object(line), 'operation') === operation);

const queue = (body: unknown) => stack.call('PUT', '/v1/queue', body);

afterEach(async () => {
  await queue({ paused: false, capacity: null });
});

test('stops everything by one call, and goes on by another', async () => {
  expect(await queue({ paused: true, capacity: 3 })).toMatchObject({
    status: 200,
    body: { paused: true, capacity: 3, deployedCapacity: 40 },
  });
  await stack.enqueue('acme', jobsOf(3, 'echo'));
  expect(await stack.tenant('acme')).toMatchObject({ ready: 3, done: 0 });
  expect(await queue({ paused: false })).toMatchObject({ status: 200, body: { paused: false, capacity: 3 } });
  await stack.drained();
  expect(await stack.tenant('acme')).toMatchObject({ done: 3 });
  expect(auditOf('putQueue')[0]).toMatchObject({
    before: { paused: false, capacity: 40 },
    after: { paused: true, capacity: 3 },
  });
  expect(await queue({ capacity: 0 })).toMatchObject({ status: 400 });
  expect(await queue({ pause: true })).toMatchObject({ status: 400 });
});

test('shows what has died and of what, drops it or runs it again', async () => {
  const path = '/v1/tenants/fragile/dead';
  await stack.enqueue('fragile', jobsOf(3, 'fail', { permanent: true, n: 1.5 }));
  await expect.poll(() => stack.tenant('fragile')).toMatchObject({ dead: 3 });
  const page = await stack.call<{ dead: DeadLetterBody[]; next: string }>('GET', `${path}?limit=2`);
  expect(page.body.dead).toHaveLength(2);
  const [newest] = page.body.dead;
  expect(newest).toMatchObject({ type: 'fail', payload: { permanent: true, n: 1.5 }, attempts: 1 });
  expect(newest?.error).not.toBe('');
  const rest = await stack.call<{ dead: DeadLetterBody[] }>('GET', `${path}?cursor=${page.body.next}`);
  expect(rest.body).toMatchObject({ dead: [{}], next: null });

  const one = `${path}/${newest?.id}`;
  expect(await stack.call('DELETE', one)).toMatchObject({ status: 200, body: { tenant: 'fragile', dropped: 1 } });
  expect(await stack.call('DELETE', one)).toMatchObject({
    status: 404,
    body: { type: 'urn:rota:problem:unknown_job' },
  });
  expect(await stack.call('POST', `${one}/redrive`)).toMatchObject({ status: 404 });
  expect(await stack.call('DELETE', `${path}/nonsense`)).toMatchObject({ status: 400 });
  const again = `${path}/${rest.body.dead[0]?.id}/redrive`;
  expect(await stack.call('POST', again)).toMatchObject({ status: 200, body: { redriven: 1, remaining: 1 } });
  await expect.poll(() => stack.tenant('fragile')).toMatchObject({ dead: 2, failed: 4 });
  expect(await stack.call('POST', `${path}/redrive`)).toMatchObject({ body: { redriven: 2, remaining: 0 } });
  await expect.poll(() => stack.tenant('fragile')).toMatchObject({ dead: 2, failed: 6 });
  expect(await stack.call('DELETE', path)).toMatchObject({ body: { dropped: 2 } });
  expect(auditOf('dropDead')).toHaveLength(1);
  expect(auditOf('redriveAllDead')).toHaveLength(1);
});

test('shows the waiting jobs of a tenant, and removes those of all', async () => {
  await queue({ paused: true });
  await stack.enqueue('ünïcode', jobsOf(3, 'echo', { n: 1 }));
  await stack.enqueue('other', [{ type: 'echo', payload: 2, delaySeconds: 600 }]);
  const segment = `~${Buffer.from('ünïcode').toString('base64url')}`;
  const ready = await stack.call<{ jobs: WaitingJobBody[] }>('GET', `/v1/tenants/${segment}/jobs?limit=2`);
  expect(ready.body).toMatchObject({ jobs: [{ type: 'echo', payload: { n: 1 }, attempts: 0 }, {}], next: '1' });
  const delayed = await stack.call<{ jobs: WaitingJobBody[] }>('GET', '/v1/tenants/other/jobs?state=delayed');
  expect(delayed.body).toMatchObject({ jobs: [{ payload: 2 }], next: null });
  expect(await stack.call('DELETE', '/v1/queue/jobs')).toMatchObject({
    status: 200,
    body: { removed: { ready: 3, delayed: 1 }, remaining: 0 },
  });
  expect(await stack.queueView()).toMatchObject({ depth: 0 });
});
