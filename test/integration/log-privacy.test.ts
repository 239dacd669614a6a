import { beforeAll, expect, test, vi } from 'vitest';
import { type Job, type Stack, startStack } from '../support/stack.ts';

/** In every payload, and nowhere else. Plain, since what is base64 or escaped would not be found as it is. */
const MARKER = 'swordfish';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ 'rota.retry.baseSeconds': '0.01', 'rota.retry.capSeconds': '0.01' });
});

const job = (type: string, payload: unknown, more: Partial<Job> = {}): Job => ({ type, payload, ...more });

/** Taken by the queue, and odd: not what the type expects, or such that the handler fails with it in hand. */
const accepted: readonly Job[] = [
  job('echo', MARKER),
  job('echo', { [MARKER]: [MARKER, { deep: MARKER }] }),
  job('echo', `${'x'.repeat(200_000)}${MARKER}`),
  job('echo', `"}\\n{"level":"ERROR","message":"${MARKER}"}\\r\\n\\u0000\\u2028`),
  job('sleep', { ms: MARKER }),
  job('sleep', { ms: 1, [MARKER]: 1 }),
  job('fail', { times: MARKER }, { maxAttempts: 2 }),
  job('fail', MARKER, { maxAttempts: 1 }),
  job('webhook', { url: `http://${MARKER}.example/${MARKER}?token=${MARKER}` }),
  job('webhook', { url: `http://127.0.0.1:1/${MARKER}?${MARKER}`, body: MARKER }, { maxAttempts: 2 }),
  job('webhook', { url: 'http://127.0.0.1:1/', headers: { authorization: MARKER } }, { maxAttempts: 1 }),
  job('webhook', { url: `http://user:${MARKER}@127.0.0.1/` }),
  job('webhook', { url: MARKER, method: MARKER }),
];

/** Refused before they are in the queue. */
const refused: readonly string[] = [
  `{"tenant":"acme","jobs":[{"type":"echo","payload":"${MARKER}"`,
  MARKER,
  JSON.stringify({ tenant: 'acme', jobs: [{ type: 'echo', payload: MARKER, delaySeconds: -1 }] }),
  JSON.stringify({ tenant: 'acme', jobs: [{ type: 'echo', payload: 'x'.repeat(300_000) + MARKER }] }),
  JSON.stringify({ tenant: 'acme', jobs: [{ type: 'unheard-of', payload: MARKER }] }),
  JSON.stringify({ tenant: 'acme', jobs: [{ type: 'echo', payload: { [MARKER]: '\ud800' } }] }),
];

test('says nothing of a payload in any log, whatever becomes of its job', async () => {
  await stack.enqueue('acme', accepted);
  for (const body of refused) {
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${stack.apiUrl}/v1/jobs?q=${MARKER}`, { method: 'POST', headers, body });
    expect(status).toBeGreaterThanOrEqual(400);
  }
  const invoke = `${stack.lambdaUrl}/2015-03-31/functions/${stack.functionName('enqueue')}/invocations`;
  for (const jobs of [[job('echo', MARKER)], MARKER]) {
    await fetch(invoke, { method: 'POST', body: JSON.stringify({ tenant: 'acme', jobs }) });
  }
  await vi.waitFor(
    async () => {
      const view = await stack.queueView();
      expect(view).toMatchObject({ depth: 0, inFlight: 0, delayed: 0 });
    },
    { timeout: 60_000, interval: 100 },
  );
  stack.fire('monitor');
  await vi.waitFor(() => expect(stack.pendingEvents('monitor')).toBe(0), { timeout: 30_000, interval: 50 });

  const tenant = await stack.tenant('acme');
  expect(tenant.dead).toBeGreaterThanOrEqual(7);
  const lines = stack.logs();
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.filter((line) => line.includes(MARKER))).toEqual([]);
});
