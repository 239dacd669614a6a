import { beforeAll, expect, test } from 'vitest';
import { enqueueJobs } from '../../functions/contract/jobs.ts';
import { routes } from '../../functions/contract/routes.ts';
import type { TenantBody } from '../../functions/contract/tenants.ts';
import { type Issuer, startIssuer, type TokenOptions } from '../support/issuer.ts';
import { refusal } from '../support/problems.ts';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let issuer: Issuer;

beforeAll(async () => {
  issuer = await startIssuer();
  stack = await startStack({
    'rota.auth.api': 'jwt',
    'rota.auth.jwt.issuer': issuer.url,
    'rota.auth.jwt.audience': 'rota,rota-batch',
    'rota.auth.jwt.tenantClaim': 'org',
    'rota.auth.jwt.planClaim': 'tier',
    'rota.auth.jwt.scopes.enqueue': 'jobs:write,jobs:admin',
    'rota.auth.jwt.scopes.operate': 'queue:operate',
  });
});

const ENQUEUE = { scope: 'openid jobs:write', org: 'acme' };
const OPERATE = { scope: 'queue:operate' };

/** One request with a token of these claims; none without. */
async function call(method: string, path: string, body?: unknown, options?: TokenOptions) {
  const headers = options && { authorization: `Bearer ${await issuer.token(options)}` };
  return stack.call(method, path, body, headers);
}

const post = (body: unknown, claims: Record<string, unknown> = ENQUEUE) => call('POST', '/v1/jobs', body, { claims });
const jobs = jobsOf(1, 'echo');

async function tenant(name: string): Promise<TenantBody> {
  const headers = { authorization: `Bearer ${await issuer.token({ claims: OPERATE })}` };
  const { body } = await stack.call<TenantBody>('GET', `/v1/tenants/${name}`, undefined, headers);
  return body;
}

const samples = routes.map(({ method, path, access }) => ({
  call: `${method} ${path}`,
  method,
  path: path.replace('{tenant}', 'acme'),
  access,
}));

/** What the gateway answers by itself, without a problem document. */
const gatewayMade = (status: number, message: string) => ({ status, body: { message } });

test.each(samples)('lets nobody in without a token: $call', async ({ method, path }) => {
  expect(await call(method, path, method === 'GET' ? undefined : {})).toMatchObject(gatewayMade(401, 'Unauthorized'));
});

test.each(samples)('lets nobody in without the scope for $access: $call', async ({ method, path, access }) => {
  const body = method === 'GET' ? undefined : {};
  for (const claims of [...(access === 'operate' ? [ENQUEUE] : []), { org: 'acme' }, { scope: 'jobs:writer' }]) {
    expect(await call(method, path, body, { claims })).toMatchObject(gatewayMade(403, 'Forbidden'));
  }
});

test.each<[string, TokenOptions]>([
  ['of another key', { forged: true }],
  ['of another issuer', { issuer: 'https://elsewhere.example' }],
  ['for another audience', { audience: 'elsewhere' }],
  ['that is over', { expires: '-1m' }],
])('takes no token %s', async (_name, options) => {
  const answer = await call('POST', '/v1/jobs', { jobs }, { claims: ENQUEUE, ...options });
  expect(answer).toMatchObject(gatewayMade(401, 'Unauthorized'));
});

test.each(['Bearer', 'Bearer x.y.z', 'Basic YTpi'])('takes no header %j for a token', async (authorization) => {
  const answer = await stack.call('POST', '/v1/jobs', { jobs }, { authorization });
  expect(answer).toMatchObject(gatewayMade(401, 'Unauthorized'));
});

test('takes a token with one audience and one scope of those that will do', async () => {
  const other = await call(
    'POST',
    '/v1/jobs',
    { jobs },
    {
      claims: { scope: 'jobs:admin', org: 'audience' },
      audience: ['elsewhere', 'rota-batch'],
    },
  );
  expect(other).toMatchObject({ status: 202, body: { tenant: 'audience', depth: 1 } });
});

test('lets operators enqueue as well, for the tenant that their token names', async () => {
  const own = await post({ jobs }, { ...OPERATE, org: 'operator' });
  expect(own).toMatchObject({ status: 202, body: { tenant: 'operator' } });
  expect(refusal(enqueueJobs, await post({ tenant: 'globex', jobs }, OPERATE))).toEqual(['tenant_forbidden']);
});

test('enqueues for the tenant of the token, named in the body or not', async () => {
  expect(await post({ jobs })).toMatchObject({ status: 202, body: { tenant: 'acme' } });
  expect(await post({ tenant: 'acme', jobs })).toMatchObject({ status: 202, body: { tenant: 'acme' } });
  const odd = 'a:b{c}|*% 🐢 [d]';
  expect(await post({ jobs }, { ...ENQUEUE, org: odd })).toMatchObject({ status: 202, body: { tenant: odd } });
  await expect.poll(() => tenant('acme'), { timeout: 20_000 }).toMatchObject({ enqueued: 2, done: 2 });
});

test('enqueues for no other tenant than that of the token, and for none without', async () => {
  for (const [body, claims] of [
    [{ tenant: 'globex', jobs }, ENQUEUE],
    [{ tenant: 'acme ', jobs }, ENQUEUE],
    [{ tenant: 'globex', jobs }, { scope: 'jobs:write' }],
    [{ jobs }, { scope: 'jobs:write', org: '' }],
    [{ jobs }, { scope: 'jobs:write', tenant: 'globex' }],
    [{ jobs }, { scope: 'jobs:write', org: 'e\u0301' }],
    [{ jobs }, { scope: 'jobs:write', org: 'x'.repeat(129) }],
  ] as const) {
    expect(refusal(enqueueJobs, await post(body, claims))).toEqual(['tenant_forbidden']);
  }
  expect(await tenant('globex')).toMatchObject({ enqueued: 0 });
});

const put = (record: object) => call('PUT', '/v1/tenants/tiered', record, { claims: OPERATE });

test('goes by the plan of the token where the record names none, from the first job on', async () => {
  const claims = { ...ENQUEUE, org: 'tiered', tier: 'growth' };
  expect((await post({ jobs }, claims)).status).toBe(202);
  expect(await tenant('tiered')).toMatchObject({
    plan: 'growth',
    weight: 3,
    limits: { maxDepth: 100_000 },
    record: {},
  });
  // The record is billing's word and goes before it; without, the token's counts again.
  expect((await put({ plan: 'enterprise' })).body).toMatchObject({ plan: 'enterprise', weight: 8 });
  expect((await post({ jobs }, claims)).status).toBe(202);
  expect(await tenant('tiered')).toMatchObject({ plan: 'enterprise' });
  expect((await put({ weight: 0.5 })).body).toMatchObject({
    plan: 'growth',
    weight: 0.5,
    limits: { maxDepth: 100_000 },
  });
  expect((await put({})).body).toMatchObject({ plan: 'growth', weight: 3 });
  // A newer token says something else, and acts at once.
  expect((await post({ jobs }, { ...claims, tier: 'free' })).status).toBe(202);
  expect(await tenant('tiered')).toMatchObject({ plan: 'free', weight: 1 });
  const unknown = await post({ jobs }, { ...claims, tier: 'gold' });
  expect(refusal(enqueueJobs, unknown)).toEqual(['unknown_plan']);
  expect(unknown.body).toMatchObject({ plans: ['enterprise', 'free', 'growth'] });
});

test('leaves tenant and plan to those who may invoke the function itself', async () => {
  const path = `/2015-03-31/functions/${stack.functionName('enqueue')}/invocations`;
  const invoke = async (event: unknown) => {
    const response = await fetch(stack.lambdaUrl + path, { method: 'POST', body: JSON.stringify(event) });
    return response.json();
  };
  expect(await invoke({ tenant: 'initech', jobs })).toMatchObject({ status: 202, tenant: 'initech' });
  expect(await invoke({ jobs })).toMatchObject({ status: 400, errors: [{ path: 'tenant' }] });
});
