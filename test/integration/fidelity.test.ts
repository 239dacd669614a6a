import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { beforeAll, expect, test, vi } from 'vitest';
import { PAYLOAD_MAX_BYTES } from '../../functions/lib/domain/payload.ts';
import { jsonTexts } from '../support/json.ts';
import { SECRET } from '../support/problems.ts';
import { type Recorded, type Recorder, startRecorder } from '../support/recorder.ts';
import { request } from '../support/request.ts';
import { type Job, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let recorder: Recorder;

const ANSWER = 'the answer of the host';

const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);

/** Paths of calls that the caller gave up. */
const abandoned: string[] = [];

/** A path says how its calls are answered: `/answers/503`, `/answers/500/always`, `/answers/308/<where to>`, `/answers/never`. */
function reply({ path, attempt }: Recorded, response: ServerResponse): void {
  const [, answer = '204', rest = ''] = /^\/answers\/(\w+)(?:\/(.*))?$/.exec(path) ?? [];
  response.once('close', () => {
    if (!response.writableFinished) abandoned.push(path);
  });
  if (answer === 'never') return;
  if (answer.startsWith('3')) response.writeHead(Number(answer), { location: decodeURIComponent(rest) }).end();
  else if (rest === 'always' || attempt === 1) response.writeHead(Number(answer)).end(answer === '204' ? '' : ANSWER);
  else response.writeHead(204).end();
}

beforeAll(async () => {
  fc.configureGlobal({ seed: SEED });
  recorder = await startRecorder('file', reply);
  stack = await startStack();
});

/** The address of a path of the recorder. */
const at = (path: string) => new URL(path, recorder.url).href;
const callsTo = (path: string) => recorder.calls.filter((call) => call.path === path);

/** Enqueues webhook jobs whose bodies are given as JSON text, byte for byte. Returns the ids. */
async function enqueueTexts(tenant: string, path: string, texts: readonly string[]): Promise<string[]> {
  const url = JSON.stringify(at(path));
  const jobs = texts.map((text) => `{"type":"webhook","payload":{"url":${url},"body":${text}}}`);
  const { status, body } = await request<{ jobs: { id: string }[] }>(stack.apiUrl, '/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"tenant":${JSON.stringify(tenant)},"jobs":[${jobs.join()}]}`,
  });
  if (status !== 202) throw new Error(`not admitted: ${JSON.stringify(body)}`);
  return body.jobs.map(({ id }) => id);
}

// Throws at bytes that are no UTF-8, where others would put a sign for them.
const textOf = ({ body }: Recorded): string => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);

/** What came for each of the ids, once each has come. */
async function received(path: string, ids: readonly string[]): Promise<string[]> {
  await expect.poll(() => callsTo(path).length, { timeout: 30_000 }).toBe(ids.length);
  const byId = new Map(callsTo(path).map((call) => [call.jobId, textOf(call)]));
  return ids.map((id) => byId.get(id) ?? `nothing came for ${id}`);
}

/**
 * Which of the texts are not what was sent: deep-equal as JSON, `-0` and `__proto__` included, and with their keys in the same
 * order, which comparing objects passes over.
 */
const changed = (texts: readonly string[], sent: readonly string[]): string[] =>
  sent.flatMap((source, i) => {
    const [is, was]: unknown[] = [JSON.parse(texts[i] ?? '"nothing came"'), JSON.parse(source)];
    const same = isDeepStrictEqual(is, was) && JSON.stringify(is) === JSON.stringify(was);
    return same ? [] : [`seed ${SEED}: ${source} came as ${texts[i]}`];
  });

const roots = [
  '[]',
  '{}',
  'null',
  'false',
  '0',
  '-0',
  '""',
  '"a"',
  '[[]]',
  '[{}]',
  '{"a":[]}',
  '{"a":{},"b":[{},[],[[]],null]}',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
  '{"toJSON":"x","then":1,"length":-1}',
  '{"b":1,"a":2,"1":3,"0":4}',
  '"\u2028\u2029\u0085\ufeff\ufffe"',
  '"\\ud800"',
  '["\\udc00\\ud800","\\ud83d\\udc22"]',
  '"\\u0000\\u001f\\u007f"',
  '{"\\n":"a\\r\\nb","\\"":"\\\\"}',
  '"a:b|c,d;e{f}g*h%i\\tj"',
  '[1.7976931348623157e308,5e-324,0.1,1e21,9007199254740991,-9007199254740991]',
  ' [ 1 , { "a" : 2 } ] ',
  '"undefined"',
  `{"deep":${'['.repeat(900)}${']'.repeat(900)}}`,
];

test('gives back any JSON as it was, whatever is at the root', async () => {
  const ids = await enqueueTexts('roots', '/roots', roots);
  expect(changed(await received('/roots', ids), roots)).toEqual([]);
});

test('gives back thousands of JSON texts made at random', async () => {
  // Many to a job: each is an entry of its job's body.
  const jobs = Array.from({ length: 40 }, () => jsonTexts(60));
  const bodies = jobs.map((texts) => `[${texts.join()}]`);
  const ids = await enqueueTexts('fuzz', '/fuzz', bodies);
  expect(changed(await received('/fuzz', ids), bodies)).toEqual([]);
});

test('gives back payloads of the largest size, of characters of any width', async () => {
  const around = JSON.stringify({ url: at('/large'), body: '' }).length;
  const room = PAYLOAD_MAX_BYTES - around;
  const fillings = ['x', '\u2028', '🐢', '\\ud800', '\\n'].map((unit) => {
    const bytes = Buffer.byteLength(unit);
    const count = Math.floor(room / bytes);
    return `"${'y'.repeat(room - count * bytes)}${unit.repeat(count)}"`;
  });
  // A request of 1 MB holds three of them.
  const ids = [];
  for (const filling of fillings) ids.push(...(await enqueueTexts('large', '/large', [filling])));
  const texts = await received('/large', ids);
  // Compared here: a difference of a quarter of a megabyte would be printed.
  expect(fillings.map((sent, i) => texts[i] === sent)).toEqual(fillings.map(() => true));
});

test('rounds what a double cannot hold, and of a key that stands twice takes the last, as documented', async () => {
  const ids = await enqueueTexts('rounded', '/rounded', ['[9007199254740993,0.1234567890123456789]', '{"a":1,"a":2}']);
  expect(await received('/rounded', ids)).toEqual(['[9007199254740992,0.12345678901234568]', '{"a":2}']);
});

const webhook = (path: string, more: object = {}, job: Partial<Job> = {}): Job => ({
  type: 'webhook',
  payload: { url: at(path), ...more },
  ...job,
});

test.each(['acme', 'a:b{c}|*%', '🐢 né\u2028', '..', '!()*~'])('says whose job it is: %j', async (tenant) => {
  const path = `/whose?${encodeURIComponent(tenant)}`;
  const [id] = await stack.enqueue(tenant, [webhook(path, { body: {} })]);
  await expect.poll(() => callsTo(path).length, { timeout: 20_000 }).toBe(1);
  const [{ method, headers } = expect.fail()] = callsTo(path);
  expect(method).toBe('POST');
  expect(headers).toMatchObject({
    'rota-job-id': id,
    'rota-tenant': encodeURIComponent(tenant),
    'rota-attempt': '1',
    'content-type': 'application/json',
  });
  expect(decodeURIComponent(String(headers['rota-tenant']))).toBe(tenant);
});

/** How the jobs of a tenant ended, once all have. */
async function ended(tenant: string): Promise<object> {
  return vi.waitFor(
    async () => {
      const { depth, inFlight, done, failed, dead } = await stack.tenant(tenant);
      expect(depth + inFlight).toBe(0);
      return { done, failed, dead };
    },
    { timeout: 30_000, interval: 50 },
  );
}

/** Texts of a tenant's dead letters. */
const letters = async (tenant: string): Promise<string[]> =>
  (await stack.redis.lrangeBuffer(stack.keys.dead(tenant), 0, -1)).map((letter) => letter.toString('latin1'));

test.each([404, 503])('runs a job again that was answered %i, as the next attempt', async (status) => {
  const path = `/answers/${status}`;
  const [id] = await stack.enqueue(`again-${status}`, [webhook(path, { body: [status] })]);
  expect(await ended(`again-${status}`)).toEqual({ done: 1, failed: 1, dead: 0 });
  const calls = callsTo(path).map((call) => [call.jobId, call.headers['rota-attempt'], textOf(call)]);
  expect(calls).toEqual([
    [id, '1', `[${status}]`],
    [id, '2', `[${status}]`],
  ]);
});

test('makes a dead letter of a job that was never answered well, with the reason and nothing else of the answer', async () => {
  await stack.enqueue('never', [webhook('/answers/500/always', { body: SECRET }, { maxAttempts: 2 })]);
  expect(await ended('never')).toEqual({ done: 0, failed: 2, dead: 1 });
  expect(callsTo('/answers/500/always').map(({ attempt }) => attempt)).toEqual([1, 2]);
  const [letter = ''] = await letters('never');
  expect(letter).toContain(`${new URL(recorder.url).host} answered 500`);
  expect(letter).not.toContain(ANSWER);
});

test('calls no host that is not allowed, be it named at once or by a redirect, and does not try again', async () => {
  // The same server by a name that is on no list.
  const elsewhere = at('/off').replace('127.0.0.1', 'localhost');
  const redirect = `/answers/308/${encodeURIComponent(elsewhere)}`;
  await stack.enqueue('off', [
    { type: 'webhook', payload: { url: elsewhere, body: 1 } },
    { type: 'webhook', payload: { url: 'http://169.254.169.254/latest/meta-data', method: 'GET' } },
    webhook(redirect, { body: 1 }),
  ]);
  expect(await ended('off')).toEqual({ done: 0, failed: 3, dead: 3 });
  expect(callsTo(redirect)).toHaveLength(1);
  expect(callsTo('/off')).toEqual([]);
  const all = (await letters('off')).join();
  expect(all.match(/webhook\.allowedHosts \(127\.0\.0\.1\)/g)).toHaveLength(3);
});

test('gives a call up when the time of its job is over', async () => {
  await stack.enqueue('slow', [webhook('/answers/never', { body: 1 }, { timeoutSeconds: 1, maxAttempts: 1 })]);
  expect(await ended('slow')).toEqual({ done: 0, failed: 1, dead: 1 });
  expect(abandoned).toEqual(['/answers/never']);
  expect((await letters('slow'))[0]).toContain('not done in 1000 ms');
});

test('makes a dead letter at once of a payload that is none of the type, and says where and not what', async () => {
  await stack.enqueue('malformed', [
    webhook('/malformed', { method: 'GET', body: SECRET }),
    webhook('/malformed', { verb: SECRET }),
    webhook('/malformed', { headers: { host: SECRET } }),
    webhook('/malformed', { headers: { 'x-a': `${SECRET}\r\nx-b: c` } }),
    { type: 'sleep', payload: SECRET },
  ]);
  expect(await ended('malformed')).toEqual({ done: 0, failed: 5, dead: 5 });
  expect(callsTo('/malformed')).toEqual([]);
});

test('has logged nothing of any payload', async () => {
  const lines = stack.logs();
  expect(lines.length).toBeGreaterThan(100);
  for (const hidden of [SECRET, recorder.url, ANSWER, '/roots', '/off', 'meta-data']) {
    expect(lines.filter((line) => line.includes(hidden))).toEqual([]);
  }
  expect(stack.problems).toEqual([]);
});
