import { beforeAll, expect, test } from 'vitest';
import { enqueueJobs } from '../../functions/contract/jobs.ts';
import { getQueue } from '../../functions/contract/queue.ts';
import type { Route } from '../../functions/lib/lambda/route.ts';
import { getTenant, listTenants, pauseTenant, putTenant } from '../../functions/contract/tenants.ts';
import { PAYLOAD_MAX_BYTES, REQUEST_MAX_BYTES } from '../../functions/lib/domain/payload.ts';
import type { ProblemCode } from '../../functions/lib/domain/problems.ts';
import { jobs as jobTypes } from '../../functions/process/jobs/index.ts';
import { refusal, SECRET } from '../support/problems.ts';
import { type Answer, request } from '../support/request.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;

/** Every key of the queue with its contents, but for the configuration, which each function writes at its first call. */
async function keyspace(): Promise<string[]> {
  const keys = (await stack.redis.keys(`${stack.keys.prefix}*`)).filter((key) => key !== stack.keys.config);
  return Promise.all(
    keys.toSorted().map(async (key) => `${key} ${(await stack.redis.dumpBuffer(key)).toString('hex')}`),
  );
}

beforeAll(async () => {
  stack = await startStack();
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

/** Sends just what is given, where `stack.call` would make good JSON of it. */
const send = ({ method, path, body, headers }: Sent): Promise<Answer> =>
  request(stack.apiUrl, path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });

const post = (body: Sent['body'], headers?: Record<string, string>): Promise<Answer> =>
  send({ method: 'POST', path: '/v1/jobs', ...(body !== undefined && { body }), ...(headers && { headers }) });

const job = { type: 'echo', payload: SECRET };
const batch = (given: object) => JSON.stringify({ tenant: 'acme', jobs: [job], ...given });
const withJob = (given: object) => batch({ jobs: [job, { ...job, ...given }] });

test.each([
  ['no body', undefined],
  ['white space', ' \n'],
  ['words', `"${SECRET}`],
  ['a word that JSON lacks', `{"tenant":"acme","jobs":[{"type":"echo","payload":["${SECRET}",NaN]}]}`],
  ['half an object', `{"tenant":"acme","jobs":[{"type":"echo","payload":"${SECRET}"`],
  ['a short text, which the parser would quote', `x${SECRET}`],
  ['a line break in a string', `{"tenant":"acme","jobs":[{"type":"echo","payload":"${SECRET}\n"}]}`],
  ['bytes that are not UTF-8', new Uint8Array([0xff, 0xfe, 0x7b, 0x7d])],
])('refuses what is not JSON: %s', async (_name, body) => {
  expect(refusal(enqueueJobs, await post(body))).toEqual(['malformed_body']);
});

test.each([
  ['an array', '[]', ['body ']],
  ['a string', '"a"', ['body ']],
  ['null', 'null', ['body ']],
  ['a tenant that is a number', batch({ tenant: 42 }), ['body tenant']],
  ['a tenant that is an object', batch({ tenant: { [SECRET]: SECRET } }), ['body tenant']],
  ['no tenant', batch({ tenant: undefined }), ['body tenant']],
  ['jobs that are an object', batch({ jobs: { 0: job } }), ['body jobs']],
  ['no jobs', batch({ jobs: undefined }), ['body jobs']],
  ['an empty list of jobs', batch({ jobs: [] }), ['body jobs']],
  ['501 jobs', batch({ jobs: Array.from({ length: 501 }, () => job) }), ['body jobs']],
  ['a job that is null', batch({ jobs: [null] }), ['body jobs[0]']],
  ['a job without a type', withJob({ type: undefined }), ['body jobs[1].type']],
  ['a type that is a number', withJob({ type: 1 }), ['body jobs[1].type']],
  ['a job without a payload', withJob({ payload: undefined }), ['body jobs[1].payload']],
  ['cost 0', withJob({ cost: 0 }), ['body jobs[1].cost']],
  ['cost -1', withJob({ cost: -1 }), ['body jobs[1].cost']],
  ['a cost too small to move a turn', withJob({ cost: 1e-300 }), ['body jobs[1].cost']],
  ['cost above 1,000', withJob({ cost: 1_000.1 }), ['body jobs[1].cost']],
  ['a cost that is text', withJob({ cost: '1' }), ['body jobs[1].cost']],
  ['a cost that is null', withJob({ cost: null }), ['body jobs[1].cost']],
  ['a delay below 0', withJob({ delaySeconds: -0.1 }), ['body jobs[1].delaySeconds']],
  ['a delay of more than 30 days', withJob({ delaySeconds: 2_592_000.5 }), ['body jobs[1].delaySeconds']],
  ['half an attempt', withJob({ maxAttempts: 1.5 }), ['body jobs[1].maxAttempts']],
  ['no attempt', withJob({ maxAttempts: 0 }), ['body jobs[1].maxAttempts']],
  ['a timeout longer than a run', withJob({ timeoutSeconds: 286 }), ['body jobs[1].timeoutSeconds']],
  ['an unknown field', batch({ priority: SECRET }), ['body priority']],
  ['an unknown field of a job', withJob({ payloads: SECRET }), ['body jobs[1].payloads']],
  ['a field named __proto__', batch({}).replace('{', `{"__proto__":{"a":"${SECRET}"},`), ['body __proto__']],
  [
    'several faults',
    withJob({ cost: 0, maxAttempts: 'x', x: 1 }),
    ['cost', 'maxAttempts', 'x'].map((f) => `body jobs[1].${f}`),
  ],
  ['a payload with a number beyond a double', batch({}).replace(`"${SECRET}"`, '[1e999]'), ['body jobs[0].payload']],
  [
    'a payload too deep',
    batch({}).replace(`"${SECRET}"`, '['.repeat(1_001) + ']'.repeat(1_001)),
    ['body jobs[0].payload'],
  ],
])('names what is wrong in a batch: %s', async (_name, body, places) => {
  expect(refusal(enqueueJobs, await post(body))).toEqual(['invalid_request', ...places]);
});

test.each([
  ['empty', ''],
  ['129 characters', 'x'.repeat(129)],
  ['129 characters beyond the basic plane', '🐢'.repeat(129)],
  ['a megabyte', 'x'.repeat(1_000_000)],
  ['a null character', 'a\u0000b'],
  ['a line feed', 'a\nb'],
  ['delete', 'a\u007f'],
  ['a control character of the second set', 'a\u0085'],
  ['not in normal form C', 'e\u0301'],
  ['a lone high surrogate', 'a\ud83d'],
  ['a lone low surrogate', '\udc22a'],
])('refuses an illegal tenant id, in the body and in the path: %s', async (_name, tenant) => {
  expect(refusal(enqueueJobs, await post(batch({ tenant })))).toEqual(['invalid_request', 'body tenant']);
  // A lone surrogate has no UTF-8, and a megabyte no place in a path.
  if (!tenant.isWellFormed() || tenant.length > 1_000) return;
  const path = `/v1/tenants/~${Buffer.from(tenant).toString('base64url')}`;
  expect(refusal(getTenant, await send({ method: 'GET', path }))).toEqual(['invalid_request', 'path tenant']);
  expect(refusal(putTenant, await send({ method: 'PUT', path, body: '{}' }))).toEqual([
    'invalid_request',
    'path tenant',
  ]);
  expect(refusal(pauseTenant, await send({ method: 'POST', path: `${path}/pause` }))).toEqual([
    'invalid_request',
    'path tenant',
  ]);
});

test.each([
  ['an id spelt in base64url that needs none', '~YWNtZQ'],
  ['padding', '~8J-Qog=='],
  ['bytes that are not UTF-8', '~_w'],
  ['a lone surrogate as bytes', '~7aC9'],
  ['a leading dot', '.a'],
  ['a percent-encoded id', 'a%20b'],
  ['an emoji as it is', '%F0%9F%90%A2'],
])('takes one spelling of a tenant in the path and no other: %s', async (_name, segment) => {
  const answer = await send({ method: 'GET', path: `/v1/tenants/${segment}` });
  expect(refusal(getTenant, answer)).toEqual(['invalid_request', 'path tenant']);
});

const put = (body: string) => send({ method: 'PUT', path: '/v1/tenants/acme', body });

test.each([
  ['weight 0', '{"weight":0}', ['body weight']],
  ['weight -1', '{"weight":-1}', ['body weight']],
  ['weight "3"', '{"weight":"3"}', ['body weight']],
  ['weight "NaN"', '{"weight":"NaN"}', ['body weight']],
  ['weight null', '{"weight":null}', ['body weight']],
  ['weight beyond a double', '{"weight":1e999}', ['body weight']],
  ['weight 0.009', '{"weight":0.009}', ['body weight']],
  ['maxDepth -1', '{"maxDepth":-1}', ['body maxDepth']],
  ['maxDepth 1.5', '{"maxDepth":1.5}', ['body maxDepth']],
  ['maxConcurrency true', '{"maxConcurrency":true}', ['body maxConcurrency']],
  ['a plan without a name', '{"plan":""}', ['body plan']],
  ['an unknown field', `{"wieght":"${SECRET}"}`, ['body wieght']],
  ['a list', '[]', ['body ']],
  ['all at once', '{"weight":0,"maxDepth":-1,"x":1}', ['body weight', 'body maxDepth', 'body x']],
])('names what is wrong in a subscription record: %s', async (_name, body, places) => {
  expect(refusal(putTenant, await put(body))).toEqual(['invalid_request', ...places]);
});

test('refuses NaN, which JSON lacks', async () => {
  expect(refusal(putTenant, await put('{"weight":NaN}'))).toEqual(['malformed_body']);
});

test.each(['gold', '__proto__', 'constructor', 'Free', '*'])(
  'lists the plans there are instead of %s',
  async (plan) => {
    const answer = await put(JSON.stringify({ plan, weight: 2 }));
    expect(refusal(putTenant, answer)).toEqual(['unknown_plan', 'body plan']);
    expect(answer.body).toMatchObject({ plans: ['enterprise', 'free', 'growth'] });
  },
);

test.each(['eco', 'Echo', '__proto__', 'toString', ' echo'])(
  'lists the job types there are instead of %s',
  async (type) => {
    const answer = await post(batch({ jobs: [job, { ...job, type }, job] }));
    expect(refusal(enqueueJobs, answer)).toEqual(['unknown_job_type', 'body jobs[1].type']);
    expect(answer.body).toMatchObject({ jobTypes: Object.keys(jobTypes) });
  },
);

test('refuses a payload of one byte too many, whatever it is made of', async () => {
  // Two quotes, and characters of one, three and four bytes.
  for (const [filling, bytes] of [
    ['x', 1],
    ['\u2028', 3],
    ['🐢', 4],
  ] as const) {
    const count = Math.floor((PAYLOAD_MAX_BYTES - 2) / bytes);
    const payload = `${'y'.repeat(PAYLOAD_MAX_BYTES + 1 - 2 - count * bytes)}${filling.repeat(count)}`;
    const answer = await post(batch({ jobs: [job, { type: 'echo', payload }] }));
    expect(refusal(enqueueJobs, answer)).toEqual(['too_large', 'body jobs[1].payload']);
    expect(JSON.stringify(answer.body)).toContain(
      `given ${PAYLOAD_MAX_BYTES + 1} bytes, expected at most ${PAYLOAD_MAX_BYTES}`,
    );
  }
});

test('refuses a request of one byte too many', async () => {
  const answer = await post(batch({}).padEnd(REQUEST_MAX_BYTES + 1));
  expect(refusal(enqueueJobs, answer)).toEqual(['too_large']);
  expect(JSON.stringify(answer.body)).toContain(String(REQUEST_MAX_BYTES + 1));
});

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/problem+json',
  'application/json; charset=iso-8859-1',
  'multipart/form-data; boundary=json',
])('refuses a body declared as %s', async (type) => {
  expect(refusal(enqueueJobs, await post(batch({}), { 'content-type': type }))).toEqual(['unsupported_media_type']);
  const sent = { method: 'PUT', path: '/v1/tenants/acme', body: '{}', headers: { 'content-type': type } };
  expect(refusal(putTenant, await send(sent))).toEqual(['unsupported_media_type']);
});

test.each(['', 'x'.repeat(256), 'clé'])('refuses the idempotency key %j', async (key) => {
  const answer = await post(batch({}), { 'idempotency-key': key });
  expect(refusal(enqueueJobs, answer)).toEqual(['invalid_request', 'header idempotency-key']);
});

test.each<[string, Route, string[]]>([
  ['/v1/tenants?limit=0', listTenants, ['query limit']],
  ['/v1/tenants?limit=1001', listTenants, ['query limit']],
  ['/v1/tenants?limit=ten', listTenants, ['query limit']],
  ['/v1/tenants?limit=1&limit=2', listTenants, ['query limit']],
  ['/v1/tenants?sort=name&cursor=next', listTenants, ['query sort', 'query cursor']],
  ['/v1/tenants?cursor=-1', listTenants, ['query cursor']],
  ['/v1/tenants?size=1', listTenants, ['query size']],
  ['/v1/tenants/acme?verbose=1', getTenant, ['query verbose']],
  ['/v1/queue?all', getQueue, ['query all']],
])('names what is wrong in a query: %s', async (path, route, places) => {
  expect(refusal(route, await send({ method: 'GET', path }))).toEqual(['invalid_request', ...places]);
});

test.each<[string, ProblemCode, number]>([
  [batch({ tenant: 'e\u0301' }), 'invalid_request', 400],
  [batch({ tenant: undefined }), 'invalid_request', 400],
  [batch({ jobs: Array.from({ length: 501 }, () => job) }), 'invalid_request', 400],
  [batch({ jobs: [{ ...job, type: 'eco' }] }), 'unknown_job_type', 422],
  [batch({ jobs: [{ ...job, payload: 'x'.repeat(PAYLOAD_MAX_BYTES - 1) }] }), 'too_large', 413],
  [batch({ jobs: Array.from({ length: 5 }, () => ({ ...job, payload: 'x'.repeat(250_000) })) }), 'too_large', 413],
  [batch({ idempotencyKey: 'é' }), 'invalid_request', 400],
])('refuses the same by direct invoke (%#)', async (body, code, status) => {
  const path = `/2015-03-31/functions/${stack.functionName('enqueue')}/invocations`;
  const response = await fetch(stack.lambdaUrl + path, { method: 'POST', body });
  const text = await response.text();
  expect({ status: response.status, error: response.headers.get('x-amz-function-error') }).toEqual({
    status: 200,
    error: null,
  });
  expect(JSON.parse(text)).toMatchObject({ type: `urn:rota:problem:${code}`, status });
  expect(text).not.toContain(SECRET);
});

test('has changed nothing in Redis with all of that', async () => {
  expect(await keyspace()).toEqual([]);
});

test('takes what lies just within the bounds', async () => {
  for (const [body, headers] of [
    [batch({ jobs: [{ type: 'echo', payload: 'x'.repeat(PAYLOAD_MAX_BYTES - 2) }] })],
    [batch({}).padEnd(REQUEST_MAX_BYTES)],
    [batch({ jobs: Array.from({ length: 500 }, () => job) })],
    [withJob({ cost: 1_000, delaySeconds: 0, maxAttempts: 100, timeoutSeconds: 285 })],
    [withJob({ cost: 0.01, delaySeconds: 0.001, maxAttempts: 1, timeoutSeconds: 1 })],
    [batch({}), { 'content-type': 'Application/JSON; Charset="UTF-8"' }],
    [batch({}), { 'idempotency-key': '~'.repeat(255) }],
    [batch({}).replace(`"${SECRET}"`, '['.repeat(1_000) + ']'.repeat(1_000))],
  ] as const) {
    const answer = await post(body, headers);
    expect(answer).toMatchObject({ status: 202, body: { tenant: 'acme' } });
  }
  const record = '{"weight":0.01,"maxDepth":0,"maxConcurrency":0}';
  expect((await send({ method: 'PUT', path: '/v1/tenants/globex', body: record })).status).toBe(200);
});

test('logs nothing of what it was sent', async () => {
  await stack.drained();
  const lines = stack.logs();
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
  expect(stack.problems).toEqual([]);
});
