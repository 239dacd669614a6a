import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startRecorder } from '../support/recorder.ts';
import { type Stack, startStack } from '../support/stack.ts';

// The invoke API itself is proven in runner-invoke.test.ts with functions made for it. Here a client that knows nothing of
// this repository drives the real stack, as a producer without the HTTP API would.

let stack: Stack;
let client: LambdaClient;

beforeAll(async () => {
  // The smallest stack whose processing function has a reserved concurrency that three jobs use up.
  stack = await startStack({ 'rota.capacity': '1' });
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', stack.lambdaUrl);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  // Nothing but the environment tells it where to go. Throttling is to be seen, not waited out.
  client = new LambdaClient({ maxAttempts: 1 });
});

afterAll(() => {
  client.destroy();
  vi.unstubAllEnvs();
});

type InvocationType = 'RequestResponse' | 'Event' | 'DryRun';

async function invoke(name: string, event: unknown, InvocationType: InvocationType = 'RequestResponse') {
  const FunctionName = stack.functionName(name);
  const command = new InvokeCommand({ FunctionName, InvocationType, Payload: JSON.stringify(event) });
  const { StatusCode, FunctionError, Payload } = await client.send(command);
  const text = Payload?.transformToString() ?? '';
  const answer: unknown = text === '' ? undefined : JSON.parse(text);
  return { StatusCode, FunctionError, answer };
}

const batch = (tenant: string, more: object = {}) => ({
  tenant,
  jobs: [{ type: 'echo', payload: { a: [] } }],
  ...more,
});

test('enqueues by RequestResponse and gets the answer of the API', async () => {
  const { StatusCode, FunctionError, answer } = await invoke('enqueue', batch('direct'));
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: undefined });
  expect(answer).toEqual({ tenant: 'direct', jobs: [{ id: expect.any(String) }], depth: 1, status: 202 });
  await expect.poll(() => stack.tenant('direct'), { timeout: 20_000 }).toMatchObject({ done: 1, depth: 0 });
});

test('is answered the same again for the same idempotency key, and a conflict for another body', async () => {
  const first = await invoke('enqueue', batch('keyed', { idempotencyKey: 'one' }));
  expect(await invoke('enqueue', batch('keyed', { idempotencyKey: 'one' }))).toEqual({
    ...first,
    answer: { ...Object(first.answer), status: 200 },
  });
  const other = { ...batch('keyed', { idempotencyKey: 'one' }), jobs: [{ type: 'echo', payload: 1 }] };
  expect((await invoke('enqueue', other)).answer).toMatchObject({
    type: 'urn:rota:problem:idempotency_key_reused',
    status: 422,
  });
});

test('gets a refusal as a value, with the seconds after which to try again', async () => {
  await stack.subscribe('capped', { maxDepth: 0 });
  const { StatusCode, FunctionError, answer } = await invoke('enqueue', batch('capped'));
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: undefined });
  expect(answer).toMatchObject({ status: 429, depth: 0, limit: 0, room: 0, retryAfterSeconds: expect.any(Number) });
  expect((await invoke('enqueue', { jobs: 'none' })).answer).toMatchObject({
    type: 'urn:rota:problem:invalid_request',
    status: 400,
    requestId: expect.any(String),
  });
  // Functions that only serve the HTTP API say so.
  expect((await invoke('tenants', {})).answer).toMatchObject({ type: 'urn:rota:problem:not_found', status: 404 });
});

test('enqueues by Event, without an answer', async () => {
  expect(await invoke('enqueue', batch('event'), 'Event')).toEqual({ StatusCode: 202, FunctionError: undefined });
  await expect.poll(() => stack.tenant('event'), { timeout: 20_000 }).toMatchObject({ enqueued: 1, done: 1 });
});

test('learns by DryRun that it may invoke, and enqueues nothing', async () => {
  expect(await invoke('enqueue', batch('dry'), 'DryRun')).toEqual({ StatusCode: 204, FunctionError: undefined });
  // What came after it has been dealt with by now.
  await invoke('enqueue', batch('wet'));
  expect(await stack.tenant('dry')).toMatchObject({ enqueued: 0 });
});

test('sees the error of a function, and hears that there is no such function', async () => {
  const { StatusCode, FunctionError, answer } = await invoke('process', { queue: 'another' });
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: 'Unhandled' });
  expect(answer).toMatchObject({
    errorType: 'EventError',
    errorMessage: expect.stringContaining('expected one of default'),
  });
  await expect(invoke('nobody', {})).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    $metadata: { httpStatusCode: 404 },
  });
});

test('is throttled where the reserved concurrency is in use: 429 by RequestResponse, 202 and later by Event', async () => {
  const recorder = await startRecorder('test');
  const letGo = recorder.hold();
  await stack.configure({ capacity: 3 });
  const held = ['one', 'two', 'three'];
  for (const tenant of held) await stack.enqueue(tenant, [recorder.job()]);
  await vi.waitFor(
    () => expect(recorder.calls.map(({ tenant }) => tenant).toSorted()).toEqual(held.toSorted()),
    20_000,
  );

  const gone = { queue: stack.queue, leaseId: '0-gone', token: 'gone' };
  await expect(invoke('process', gone)).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    $metadata: { httpStatusCode: 429 },
  });
  const arrivals = () => stack.logs('process').filter((line) => line.includes('0-gone')).length;
  expect(await invoke('process', gone, 'Event')).toEqual({ StatusCode: 202, FunctionError: undefined });
  expect(stack.pendingEvents('process')).toBeGreaterThan(0);
  expect(arrivals()).toBe(0);
  letGo();
  await vi.waitFor(() => expect(arrivals()).toBe(1), 20_000);
  expect((await invoke('process', gone)).StatusCode).toBe(200);
});
