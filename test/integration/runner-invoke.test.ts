import { readFileSync } from 'node:fs';
import { InvokeCommand, type InvokeCommandInput, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Local, startLocal } from '../../infra/local/local.ts';
import { writeSmallStack } from '../support/small-stack.ts';

const everything = `
console.log('loaded');
let runs = 0;
export const handler = async (event, context) => {
  runs++;
  console.log('run', JSON.stringify(event));
  switch (event.op) {
    case 'sleep': await new Promise((resolve) => setTimeout(resolve, event.ms)); break;
    case 'throw': throw new TypeError('thrown on purpose');
    case 'exit': process.exit(7);
    case 'large': return 'x'.repeat(event.bytes);
    case 'environment': return process.env;
  }
  return { event, runs, requestId: context.awsRequestId, remaining: context.getRemainingTimeInMillis() };
};`;

// Calls another function as an SDK would: the access key id of its own environment is in the signature.
const caller = `
export const handler = async ({ target }) => {
  const { AWS_ENDPOINT_URL_LAMBDA: endpoint, AWS_ACCESS_KEY_ID: key } = process.env;
  const response = await fetch(endpoint + '/2015-03-31/functions/' + target + '/invocations', {
    method: 'POST',
    body: '{}',
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=' + key + '/20261130/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0' },
  });
  return { status: response.status, error: response.headers.get('x-amzn-errortype'), body: await response.text() };
};`;

const problems: string[] = [];
let local: Local;
let client: LambdaClient;
let removeStack: () => Promise<void>;

beforeAll(async () => {
  const stack = await writeSmallStack({
    functions: {
      plain: { source: everything, properties: { Environment: { Variables: { COLOUR: 'blue' } }, MemorySize: 256 } },
      hasty: { source: everything, properties: { Timeout: 1 } },
      single: {
        source: everything,
        properties: { ReservedConcurrentExecutions: 1, Timeout: 20 },
        events: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      },
      never: {
        source: everything,
        properties: { ReservedConcurrentExecutions: 0 },
        events: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 2 },
      },
      friend: { source: caller, mayInvoke: ['plain'] },
      stranger: { source: caller, mayInvoke: ['friend'] },
    },
  });
  removeStack = () => stack.remove();
  local = await startLocal({ assembly: stack.folder, onProblem: (line) => problems.push(line) });
  process.env.AWS_ENDPOINT_URL_LAMBDA = local.lambdaUrl;
  client = new LambdaClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIADEVELOPER', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
});

afterAll(async () => {
  await local?.stop();
  await removeStack?.();
});

async function invoke(FunctionName: string, event: unknown, more: Partial<InvokeCommandInput> = {}) {
  const answer = await client.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(event), ...more }));
  const text = answer.Payload?.transformToString() ?? '';
  const payload: unknown = text === '' ? undefined : JSON.parse(text);
  return { ...answer, payload };
}

const runs = (name: string, mark: string) =>
  local.logs(name).filter((line) => line.includes('run') && line.includes(mark));

test('answers RequestResponse with what the handler returns', async () => {
  const { StatusCode, ExecutedVersion, FunctionError, payload } = await invoke('plain', { nested: [[], {}, null] });
  expect({ StatusCode, ExecutedVersion, FunctionError }).toEqual({ StatusCode: 200, ExecutedVersion: '$LATEST' });
  expect(payload).toMatchObject({ event: { nested: [[], {}, null] } });
});

test('finds a function by its ARN and refuses an unknown one', async () => {
  const arn = 'arn:aws:lambda:us-east-1:000000000000:function:plain';
  expect((await invoke(arn, {})).StatusCode).toBe(200);
  await expect(invoke('nobody', {})).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    $metadata: { httpStatusCode: 404 },
  });
  await expect(invoke('plain', {}, { Qualifier: 'live' })).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test.each(['%zz', '%ff', '%'])('refuses the name %j, which cannot be decoded', async (name) => {
  const url = `${local.lambdaUrl}/2015-03-31/functions/${name}/invocations`;
  const { status, headers } = await fetch(url, { method: 'POST', body: '{}' });
  expect([status, headers.get('x-amzn-errortype')]).toEqual([404, 'UnknownOperationException']);
});

test('answers DryRun without running the function', async () => {
  expect((await invoke('plain', { mark: 'dry' }, { InvocationType: 'DryRun' })).StatusCode).toBe(204);
  await invoke('plain', { mark: 'wet' });
  expect(runs('plain', 'wet')).toHaveLength(1);
  expect(runs('plain', 'dry')).toHaveLength(0);
});

test('runs an Event later, once, and twice when asked to deliver twice', async () => {
  expect((await invoke('plain', { mark: 'once' }, { InvocationType: 'Event' })).StatusCode).toBe(202);
  await vi.waitFor(() => expect(local.pendingEvents('plain')).toBe(0), 10_000);
  expect(runs('plain', 'once')).toHaveLength(1);
  local.invokeTwice('plain');
  await invoke('plain', { mark: 'dup' }, { InvocationType: 'Event' });
  await vi.waitFor(() => expect(local.pendingEvents('plain')).toBe(0), 10_000);
  expect(runs('plain', 'dup')).toHaveLength(2);
});

test('marks a thrown error as a function error and says it aloud', async () => {
  const { StatusCode, FunctionError, payload } = await invoke('plain', { op: 'throw' });
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: 'Unhandled' });
  expect(payload).toMatchObject({ errorType: 'TypeError', errorMessage: 'thrown on purpose' });
  expect(problems.some((line) => line.includes('thrown on purpose'))).toBe(true);
});

test('returns the tail of the log when asked', async () => {
  const { LogResult = '' } = await invoke('plain', { mark: 'tail' }, { LogType: 'Tail' });
  const log = Buffer.from(LogResult, 'base64').toString();
  expect(log).toMatch(/START RequestId/);
  expect(log).toContain('"mark":"tail"');
});

test('kills a function at its timeout and replaces it', async () => {
  const [before] = local.environments('hasty');
  const { FunctionError, payload } = await invoke('hasty', { op: 'sleep', ms: 60_000 });
  expect(FunctionError).toBe('Unhandled');
  expect(payload).toMatchObject({ errorType: 'Sandbox.Timedout' });
  expect(JSON.stringify(payload)).toContain('Task timed out after 1.00 seconds');
  expect((await invoke('hasty', {})).payload).toMatchObject({ runs: 1 });
  expect(local.environments('hasty')).not.toContain(before);
});

test('answers an exit and a kill -9 as function errors and goes on with a new environment', async () => {
  expect((await invoke('plain', { op: 'exit' })).payload).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('exit status 7'),
  });
  const killed = invoke('single', { op: 'sleep', ms: 15_000, mark: 'victim' });
  await vi.waitFor(() => expect(runs('single', 'victim')).toHaveLength(1), 10_000);
  expect(await local.kill('single')).toBe(1);
  expect((await killed).payload).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('signal: killed'),
  });
  expect((await invoke('single', {})).payload).toMatchObject({ runs: 1 });
});

test('freezes an environment between invocations', async () => {
  await invoke('single', {});
  const [pid] = local.environments('single');
  const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
  await vi.waitFor(() => expect(state()).toBe('T'), 10_000);
  const sleeping = invoke('single', { op: 'sleep', ms: 500 });
  await vi.waitFor(() => expect(state()).not.toBe('T'), 10_000);
  expect((await sleeping).payload).toMatchObject({ event: { ms: 500 } });
  expect(local.environments('single')).toEqual([pid]);
});

test('throttles RequestResponse at the reserved concurrency', async () => {
  const busy = invoke('single', { op: 'sleep', ms: 1_500, mark: 'busy' });
  await vi.waitFor(() => expect(runs('single', 'busy')).toHaveLength(1), 10_000);
  await expect(invoke('single', {})).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded',
    $metadata: { httpStatusCode: 429 },
  });
  await busy;
  expect((await invoke('single', {})).StatusCode).toBe(200);
});

test('accepts an Event at the reserved concurrency and tries it again until it runs', async () => {
  const busy = invoke('single', { op: 'sleep', ms: 1_500, mark: 'holder' });
  await vi.waitFor(() => expect(runs('single', 'holder')).toHaveLength(1), 10_000);
  const { StatusCode } = await invoke('single', { mark: 'patient' }, { InvocationType: 'Event' });
  expect(StatusCode).toBe(202);
  await busy;
  await vi.waitFor(() => expect(runs('single', 'patient')).toHaveLength(1), { timeout: 10_000 });
});

test('drops an Event that grows too old', async () => {
  expect((await invoke('never', {}, { InvocationType: 'Event' })).StatusCode).toBe(202);
  await vi.waitFor(
    () => expect(problems.some((line) => /never: event .* dropped, older than 2 s/.test(line))).toBe(true),
    {
      timeout: 10_000,
    },
  );
  expect(local.pendingEvents('never')).toBe(0);
});

test('does not try a failed Event again when the template says so', async () => {
  await invoke('single', { op: 'throw', mark: 'failing' }, { InvocationType: 'Event' });
  await vi.waitFor(() => expect(local.pendingEvents('single')).toBe(0), { timeout: 10_000 });
  expect(runs('single', 'failing')).toHaveLength(1);
});

/** A string whose JSON has so many bytes. */
const jsonText = (bytes: number) => 'x'.repeat(bytes - 2);

test('refuses payloads that are too large or no JSON', async () => {
  await expect(invoke('plain', jsonText(1_048_577), { InvocationType: 'Event' })).rejects.toMatchObject({
    name: 'RequestTooLargeException',
    $metadata: { httpStatusCode: 413 },
  });
  expect((await invoke('plain', jsonText(1_048_577))).StatusCode).toBe(200);
  await expect(invoke('plain', jsonText(6_291_457))).rejects.toMatchObject({ name: 'RequestTooLargeException' });
  await expect(invoke('plain', {}, { Payload: '{"half":' })).rejects.toMatchObject({
    name: 'InvalidRequestContentException',
  });
  expect((await invoke('plain', { op: 'large', bytes: 6_300_000 })).payload).toMatchObject({
    errorType: 'Function.ResponseSizeTooLarge',
  });
});

test('lets a function invoke only what its role allows', async () => {
  expect((await invoke('friend', { target: 'plain' })).payload).toMatchObject({ status: 200 });
  expect((await invoke('stranger', { target: 'plain' })).payload).toMatchObject({
    status: 403,
    error: 'AccessDeniedException',
    body: expect.stringContaining('lambda:InvokeFunction'),
  });
  // Whether there is such a function is nothing that a caller without the right learns.
  expect((await invoke('friend', { target: 'nowhere' })).payload).toMatchObject({ status: 403 });
});

test('gives an environment what Lambda gives and nothing of this machine', async () => {
  process.env.LEAK_OF_THE_MACHINE = 'yes';
  const { payload } = await invoke('plain', { op: 'environment' });
  expect(payload).toMatchObject({
    COLOUR: 'blue',
    AWS_REGION: 'us-east-1',
    AWS_LAMBDA_FUNCTION_NAME: 'plain',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    AWS_ENDPOINT_URL_LAMBDA: local.lambdaUrl,
  });
  expect(payload).not.toHaveProperty('LEAK_OF_THE_MACHINE');
  expect(payload).not.toHaveProperty('HOME');
});

async function startWith(source: string, properties = {}) {
  const stack = await writeSmallStack({ functions: { faulty: { source, properties } } });
  try {
    await startLocal({ assembly: stack.folder, onProblem: () => undefined });
  } finally {
    await stack.remove();
  }
}

test('refuses to start when a function does not load', async () => {
  await expect(startWith('throw new Error("no such setting")')).rejects.toThrow(
    /faulty does not start.*no such setting/,
  );
  await expect(startWith('export const other = 1')).rejects.toThrow(/Runtime.HandlerNotFound/);
  await expect(startWith(everything, { Handler: 'main.handler' })).rejects.toThrow(
    /Function faulty: handler main.handler/,
  );
  const dangling = { Environment: { Variables: { QUEUE: { Ref: 'Missing' } } } };
  await expect(startWith(everything, dangling)).rejects.toThrow('Resource faulty refers to Missing');
});
