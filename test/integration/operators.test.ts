import { ONE } from '../../functions/contract/job-examples.ts';
import { buryAs } from '../support/dead.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { routes } from '../../functions/contract/routes.ts';
import { SECRET } from '../support/problems.ts';
import { type Recorder, startRecorder } from '../support/recorder.ts';
import { jobsOf, type Stack, startStack } from '../support/stack.ts';

const KEY = `whsec_${Buffer.from('twenty-four bytes or more').toString('base64')}`;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let stack: Stack;
let recorder: Recorder;

beforeAll(async () => {
  process.env.ROTA_WEBHOOK_KEYS = KEY;
  recorder = await startRecorder();
  stack = await startStack({ 'rota.webhook.signingSecret': 'rota/webhooks' });
});

type Line = Readonly<Record<string, unknown>>;

/** What a function logged as JSON, in order; not what the service itself says. */
const linesOf = (functionName: string): Line[] =>
  stack
    .logs(functionName)
    .filter((line) => line.startsWith('{'))
    .map((line): Line => JSON.parse(line));

const linesAbout = (functionName: string, field: string, value: unknown) =>
  linesOf(functionName).filter((line) => line[field] === value);

const idOf = ({ headers }: { headers: Headers }) => headers.get('apigw-requestid');

/** The trace that came with the call of a path. */
const traceOf = async (path: string) => {
  const find = () => recorder.calls.find((call) => call.path === path);
  await expect.poll(find, { timeout: 30_000 }).toBeDefined();
  return find()?.headers.traceparent;
};

const jobFor = (path: string) => ({ type: 'webhook', payload: { url: new URL(path, recorder.url).href, body: [] } });

describe('a trace', () => {
  test('goes from the header of the enqueue to the webhook', async () => {
    const body = { tenant: 'traced', jobs: [jobFor('/header')] };
    expect((await stack.call('POST', '/v1/jobs', body, { traceparent: TRACE })).status).toBe(202);
    expect(await traceOf('/header')).toBe(TRACE);
  });

  test('is nothing when it is malformed, and refuses nobody', async () => {
    const body = { tenant: 'traced', jobs: [jobFor('/malformed')] };
    expect((await stack.call('POST', '/v1/jobs', body, { traceparent: `${TRACE}-more` })).status).toBe(202);
    expect(await traceOf('/malformed')).toBeUndefined();
  });

  test('is a field of a direct invoke', async () => {
    const url = `${stack.lambdaUrl}/2015-03-31/functions/${stack.functionName('enqueue')}/invocations`;
    const event = { tenant: 'traced', jobs: [jobFor('/direct')], traceparent: TRACE };
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(event) });
    expect(await response.json()).toMatchObject({ status: 202 });
    expect(await traceOf('/direct')).toBe(TRACE);
  });

  test('does not make another batch of a repeated one', async () => {
    const body = { tenant: 'repeated', jobs: jobsOf(1, 'echo') };
    const key = { 'idempotency-key': 'once' };
    const first = await stack.call('POST', '/v1/jobs', body, { ...key, traceparent: TRACE });
    const others = [{ ...key, traceparent: TRACE.replace('4bf9', '1111') }, key];
    for (const headers of others) {
      const again = await stack.call('POST', '/v1/jobs', body, headers);
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
    }
  });
});

test('signs webhooks with the key of the secret, under the id of the job', async () => {
  const [id] = await stack.enqueue('signed', [recorder.job({ invoice: 1 })]);
  const find = () => recorder.calls.find((call) => call.jobId === id);
  await expect.poll(find, { timeout: 30_000 }).toBeDefined();
  const { headers = {}, body } = find() ?? {};
  const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  expect(new Webhook(KEY).verify(String(body), signed)).toEqual({ invoice: 1 });
  expect(signed['webhook-id']).toBe(id);
  expect(stack.logs().filter((line) => line.includes(KEY.slice(6)))).toEqual([]);
});

describe('the lines of a request', () => {
  test('have its id: of what enqueues, and of what shows tenants', async () => {
    const calls = [
      ['enqueue', await stack.call('POST', '/v1/jobs', { tenant: 'acme', jobs: jobsOf(1, 'echo') })],
      ['enqueue', await stack.call('POST', '/v1/jobs', { tenant: 'acme', jobs: [] })],
      ['tenants', await stack.call('GET', '/v1/tenants/acme')],
    ] as const;
    for (const [functionName, answer] of calls) {
      expect(linesAbout(functionName, 'requestId', idOf(answer))).not.toEqual([]);
    }
    for (const name of ['enqueue', 'tenants']) expect(linesOf(name).filter((line) => !line.requestId)).toEqual([]);
  });

  test('have the id of the invocation, and those of visits lease and tenant', async () => {
    await stack.enqueue('visited', [recorder.job()]);
    await expect.poll(() => linesAbout('process', 'tenant', 'visited'), { timeout: 30_000 }).not.toEqual([]);
    expect(linesAbout('process', 'tenant', 'visited')[0]).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      leaseId: expect.any(String),
      visit: expect.any(Number),
      event: 'visit',
    });
    const asked = stack
      .logs('process')
      .filter((line) => line.startsWith('START'))
      .map((line) => line.split(' ')[2]);
    for (const { requestId } of linesOf('process')) expect(asked).toContain(requestId);
    await expect.poll(() => linesOf('dispatch'), { timeout: 90_000 }).not.toEqual([]);
    for (const line of linesOf('dispatch')) expect(line.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('an operator', () => {
  const changes = routes.filter(({ access, method }) => access === 'operate' && method !== 'GET');
  const signed = {
    authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20261201/us-east-1/execute-api/aws4_request',
  };

  const bodies: Readonly<Record<string, unknown>> = { putTenant: { plan: 'growth' }, putQueue: { paused: false } };

  test.each(changes)('leaves a line with every change: $operationId', async ({ operationId, method, path }) => {
    await stack.enqueue('audited', [{ type: 'echo', payload: SECRET, delaySeconds: 600 }]);
    if (path.includes('{job}')) await buryAs(stack, 'audited', ONE);
    const segments = path.replace('{tenant}', 'audited').replace('{job}', ONE);
    const answer = await stack.call(method, segments, bodies[operationId], signed);
    expect(answer.status).toBe(200);
    const [line, ...more] = linesAbout('tenants', 'requestId', idOf(answer)).filter(({ event }) => event === 'audit');
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      operation: operationId,
      ...(path.includes('{tenant}') && { tenant: 'audited' }),
      caller: { by: 'iam', principal: expect.stringContaining(':user/local'), accessKey: 'AKIAOPERATOR' },
      before: { delayed: expect.any(Number) },
      after: { delayed: expect.any(Number) },
    });
    expect(JSON.stringify(line)).not.toContain(SECRET);
  });

  test('is told with what was before and after', async () => {
    const auditOf = async (method: string, path: string, body?: unknown) => {
      const answer = await stack.call(method, `/v1/tenants/told${path}`, body);
      return linesAbout('tenants', 'requestId', idOf(answer)).find(({ event }) => event === 'audit');
    };
    expect(await auditOf('PUT', '', { plan: 'growth', weight: 2 })).toMatchObject({
      before: { record: {}, plan: 'free' },
      after: { record: { plan: 'growth', weight: 2 }, plan: 'growth' },
    });
    expect(await auditOf('POST', '/pause')).toMatchObject({ before: { paused: false }, after: { paused: true } });
    await stack.enqueue('told', jobsOf(3, 'echo'));
    expect(await auditOf('DELETE', '/jobs')).toMatchObject({ before: { ready: 3 }, after: { ready: 0, paused: true } });
    expect(await auditOf('POST', '/resume')).toMatchObject({ before: { paused: true }, after: { paused: false } });
  });

  test('leaves no such line by looking, or by what was refused', async () => {
    const answers = [
      await stack.call('GET', '/v1/tenants/quiet'),
      await stack.call('PUT', '/v1/tenants/quiet', { plan: 'gold' }),
      await stack.call('PUT', '/v1/tenants/quiet', { weight: -1 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 400]);
    expect(linesAbout('tenants', 'tenant', 'quiet')).toEqual([]);
  });
});

test('says within 2 s whether the queue is well', async () => {
  expect(await stack.call('GET', '/v1/health')).toMatchObject({ status: 200, body: { status: 'ok', paused: false } });
  await stack.stopRedis();
  const askedMs = performance.now();
  const away = await stack.call('GET', '/v1/health');
  expect(performance.now() - askedMs).toBeLessThan(2_500);
  expect(away).toMatchObject({ status: 503, body: { type: 'urn:rota:problem:unavailable', requestId: idOf(away) } });
  expect(linesAbout('enqueue', 'requestId', idOf(away)).map(({ level }) => level)).toContain('ERROR');
});
