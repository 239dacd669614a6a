import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../functions/contract/client.ts';
import type { DeadLetterBody } from '../../functions/contract/dead.ts';
import { routes } from '../../functions/contract/routes.ts';
import type { TenantBody } from '../../functions/contract/tenants.ts';
import type { WaitingJobBody } from '../../functions/contract/waiting-jobs.ts';
import { jobsOf, startStack } from '../support/stack.ts';

/** What operators and billing do to a running queue, by hand and by the client. */
const stack = await startStack();
const rota = createClient({ url: stack.apiUrl });

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

const put = (tenant: string, record: unknown, headers: Record<string, string> = {}) =>
  stack.call<TenantBody>('PUT', `/v1/tenants/${tenant}`, record, headers);
const enqueue = (tenant: string, jobs: unknown[]) => stack.call<{ cap?: string }>('POST', '/v1/jobs', { tenant, jobs });

test('lets only one of two writers replace the record that both have read', async () => {
  const read = await stack.call<TenantBody>('GET', '/v1/tenants/billed');
  const etag = read.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[0-9a-f]+"$/);
  const first = await put('billed', { plan: 'growth' }, { 'if-match': etag });
  expect(first).toMatchObject({ status: 200, body: { plan: 'growth' } });
  const second = await put('billed', { plan: 'enterprise' }, { 'if-match': etag });
  expect(second).toMatchObject({ status: 412, body: { type: 'urn:rota:problem:precondition_failed' } });
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(await stack.tenant('billed')).toMatchObject({ plan: 'growth' });
  expect(await put('billed', {}, { 'if-match': `W/"x"` })).toMatchObject({ status: 400 });
  expect(await put('billed', {}, { 'if-match': `"x", ${first.headers.get('etag')}` })).toMatchObject({ status: 200 });
  expect(await put('billed', {}, { 'if-match': '*' })).toMatchObject({ status: 200 });
});

test('refuses at a cap of bytes, and serves no faster than a rate allows', async () => {
  await put('slow', { maxBytes: 100, maxJobsPerSecond: 0.001, burst: 3 });
  expect(await enqueue('slow', [{ type: 'echo', payload: 'x'.repeat(200) }])).toMatchObject({
    status: 429,
    body: { type: 'urn:rota:problem:batch_exceeds_limit', cap: 'maxBytes', limit: 100, room: 0 },
  });
  await stack.enqueue('slow', jobsOf(5, 'echo', 0));
  await expect.poll(() => stack.tenant('slow')).toMatchObject({ done: 3, ready: 2, waiting: { because: 'rate' } });
  const { waiting } = await stack.tenant('slow');
  expect(waiting?.estimatedStartSeconds).toBeGreaterThan(900);
  await put('slow', {});
  await stack.drained();
  expect(await stack.tenant('slow')).toMatchObject({ done: 5, waiting: null });
});

test('has a method for every call of the contract', () => {
  const methods = Object.keys(rota);
  const others: Readonly<Record<string, string>> = {
    enqueueJobs: 'enqueue',
    getHealth: 'health',
    dropAllDead: 'dropDead',
    redriveAllDead: 'redriveDead',
  };
  expect(
    routes.map(({ operationId }) => others[operationId] ?? operationId).filter((name) => !methods.includes(name)),
  ).toEqual([]);
});

test('enqueues, looks on and puts right, as a platform team would', async () => {
  expect(await rota.health()).toMatchObject({ status: 'ok' });
  await rota.putQueue({ paused: true });
  const jobs = Array.from({ length: 700 }, (_, n) => ({ type: 'echo', payload: { n } }));
  const { ids, depth } = await rota.enqueue({ tenant: 'né:1', jobs, idempotencyKey: 'import' });
  expect([new Set(ids).size, depth]).toEqual([700, 700]);
  // The same again: the same answer, and nothing twice.
  expect((await rota.enqueue({ tenant: 'né:1', jobs, idempotencyKey: 'import' })).ids).toEqual(ids);
  expect(await rota.getTenant('né:1')).toMatchObject({ ready: 700 });
  const page = await rota.listTenantJobs('né:1', { limit: 2 });
  expect(page.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect(await rota.listTenants({ sort: 'depth' })).toMatchObject({ tenants: [{ tenant: 'né:1' }] });
  const etag = await rota.etagOf('né:1');
  expect(await rota.putTenant('né:1', { weight: 2 }, { ifMatch: etag })).toMatchObject({ weight: 2 });
  await expect(rota.putTenant('né:1', {}, { ifMatch: etag })).rejects.toMatchObject({ code: 'precondition_failed' });
  await rota.putQueue({ paused: false });
  await stack.drained();
  expect(await rota.getTenant('né:1')).toMatchObject({ done: 700 });
  await rota.enqueue({ tenant: 'fragile', jobs: [{ type: 'fail', payload: { times: 9 }, maxAttempts: 1 }] });
  await expect.poll(() => rota.listDead('fragile')).toMatchObject({ dead: [{ type: 'fail' }] });
  expect(await rota.redriveDead('fragile')).toMatchObject({ redriven: 1 });
  await expect.poll(() => rota.listDead('fragile')).toMatchObject({ dead: [{ attempts: 1 }] });
  expect(await rota.dropDead('fragile')).toMatchObject({ dropped: 1 });
  expect(await rota.deleteTenant('fragile')).toMatchObject({ removed: { dead: 0 } });
  expect(await rota.getMetrics()).toContain('# EOF');
});

test('waits until there is room, when it is told to', async () => {
  await rota.putTenant('small', { maxDepth: 1 });
  await rota.enqueue({ tenant: 'small', jobs: [{ type: 'sleep', payload: { ms: 300 } }] });
  await rota.enqueue({ tenant: 'small', jobs: [{ type: 'echo', payload: 1 }] });
  const full = createClient({ url: stack.apiUrl, maxWaitMs: 0 });
  await rota.pauseTenant('small');
  await full.enqueue({ tenant: 'small', jobs: [{ type: 'echo', payload: 2 }] }).catch(() => undefined);
  await expect(full.enqueue({ tenant: 'small', jobs: [{ type: 'echo', payload: 3 }] })).rejects.toMatchObject({
    code: 'tenant_full',
    document: { cap: 'maxDepth', limit: 1 },
  });
});
