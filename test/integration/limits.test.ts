import { expect, test } from 'vitest';
import type { TenantBody } from '../../functions/contract/tenants.ts';
import { jobsOf, startStack } from '../support/stack.ts';

const stack = await startStack();

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
