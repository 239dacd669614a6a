import { beforeAll, expect, test } from 'vitest';
import { isTenantId, type TenantId, tenantSegment } from '../../functions/lib/domain/ids.ts';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

/** Legal ids, several of them alike to a careless eye or parser. */
const odd = [
  'acme',
  'Acme',
  'acme ',
  ' acme',
  'acme.',
  'a:b{c}|*%',
  'a:b',
  'a',
  'a:b{c}|*',
  '*',
  '?',
  '[a-z]*',
  '🐢',
  '🐢🐢',
  '👩‍🚀',
  '👩🚀',
  '42',
  '042',
  '42.0',
  '4.2e1',
  '-1',
  '0',
  '..',
  '.',
  '~x',
  '~',
  '~fng',
  'é',
  'e',
  'ﬁ',
  'fi',
  '\u200d',
  '\ufeff',
  '\u2028',
  '\u{10ffff}',
  '\uffff',
  ' ',
  '/',
  'a/b?c#d',
  'a%2Fb',
  '%',
  '%00',
  '"',
  "'",
  '\\',
  '\\n',
  '${tenant}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'true',
  'nan',
  'inf',
  'pause',
  'jobs',
  '{rota:default:0}:v1:ready:a',
  'ready:a',
  '}',
  '{',
  'x'.repeat(128),
  'x'.repeat(127),
  '🐢'.repeat(128),
  '🐢'.repeat(127),
].filter(isTenantId);

/** The one whose jobs are let run. */
const RESUMED = 'a:b{c}|*%';

interface Page {
  readonly tenants: { readonly tenant: string; readonly depth: number }[];
  readonly next: string | null;
}

let stack: Stack;
const path = (tenant: TenantId) => `/v1/tenants/${tenantSegment(tenant)}`;

async function call<Body>(method: string, target: string, body?: unknown): Promise<Body> {
  const answer = await stack.call<Body>(method, target, body);
  if (answer.status >= 300) throw new Error(`${method} ${target} was answered ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** All tenants of the list with their depths, page by page. */
async function listed(sort: string): Promise<[string, number][]> {
  const seen: [string, number][] = [];
  let cursor = '';
  for (;;) {
    const page = await call<Page>('GET', `/v1/tenants?sort=${sort}&limit=7${cursor}`);
    seen.push(...page.tenants.map(({ tenant, depth }): [string, number] => [tenant, depth]));
    if (page.next === null) return seen;
    cursor = `&cursor=${page.next}`;
  }
}

/** Every id gets another number of jobs and another weight, so that any two that mix are seen. */
const depthOf = (i: number) => i + 1;
const weightOf = (i: number) => i / 8 + 0.5;

beforeAll(async () => {
  stack = await startStack();
});

test('takes odd ids, each as another tenant', async () => {
  expect(odd).toHaveLength(new Set(odd).size);
  expect(odd.length).toBeGreaterThan(60);
  for (const tenant of odd) expect(await call('POST', `${path(tenant)}/pause`)).toMatchObject({ tenant, paused: true });
  for (const [i, tenant] of odd.entries()) {
    await call('PUT', path(tenant), { weight: weightOf(i) });
    const jobs = jobsOf(depthOf(i), 'echo');
    expect(await call('POST', '/v1/jobs', { tenant, jobs })).toMatchObject({ tenant, depth: depthOf(i) });
  }
});

test.each(['depth', 'oldest'])('lists odd ids as they are, each with its own jobs, by %s', async (sort) => {
  const expected = odd.map((tenant, i): [string, number] => [tenant, depthOf(i)]);
  expect(await listed(sort)).toEqual(sort === 'depth' ? expected.toReversed() : expected);
});

test('shows each odd id as it is, with its own record', async () => {
  for (const [i, tenant] of odd.entries()) {
    const shown = { tenant, depth: depthOf(i), enqueued: depthOf(i), weight: weightOf(i), paused: true };
    expect(await call('GET', path(tenant))).toMatchObject(shown);
  }
});

test('runs the jobs of an odd id when that one is resumed, and of no other', async () => {
  const at = odd.findIndex((id) => id === RESUMED);
  const target = `/v1/tenants/~${Buffer.from(RESUMED).toString('base64url')}`;
  expect(await call('POST', `${target}/resume`)).toMatchObject({ tenant: RESUMED, paused: false });
  await expect.poll(() => call('GET', target), { timeout: 20_000 }).toMatchObject({ depth: 0, done: depthOf(at) });
  const others = odd.flatMap((id, i): [string, number][] => (id === RESUMED ? [] : [[id, depthOf(i)]]));
  expect(await listed('oldest')).toEqual(others);
});

test('deletes an odd id and no other, until no key is left', async () => {
  const left = new Set<TenantId>(odd);
  for (const [i, tenant] of odd.entries()) {
    const ready = tenant === RESUMED ? 0 : depthOf(i);
    expect(await call('DELETE', path(tenant))).toMatchObject({ tenant, removed: { ready, delayed: 0, inFlight: 0 } });
    left.delete(tenant);
    const keys = await stack.redis.keys('*');
    expect(keys.filter((key) => key === stack.keys.tenant(tenant))).toEqual([]);
    expect(keys.filter((key) => key.startsWith(stack.keys.tenant(''))).toSorted()).toEqual(
      [...left].map((id) => stack.keys.tenant(id)).toSorted(),
    );
  }
  const { config, clock, dispatcher, onces } = stack.keys;
  const kept = (await stack.redis.keys('*')).filter((key) => ![config, clock, dispatcher, onces].includes(key));
  expect(kept).toEqual([]);
});
