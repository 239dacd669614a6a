import { expect, test } from 'vitest';
import { createClient } from '../../functions/contract/client.ts';
import { routes } from '../../functions/contract/routes.ts';
import { startStack } from '../support/stack.ts';

const stack = await startStack();
const rota = createClient({ url: stack.apiUrl });

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
