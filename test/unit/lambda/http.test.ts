import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { enqueueJobs } from '../../../functions/contract/jobs.ts';
import { route } from '../../../functions/lib/lambda/route.ts';
import { listTenants, putTenant } from '../../../functions/contract/tenants.ts';
import { problems, RequestProblem } from '../../../functions/lib/domain/problems.ts';
import { answer } from '../../../functions/lib/lambda/answer.ts';
import { httpHandler, on, onDirect } from '../../../functions/lib/lambda/http.ts';
import { QueueUnavailable } from '../../../functions/lib/queue/errors.ts';
import { httpEvent, invocation, REQUEST_ID } from '../../support/http-event.ts';
import { keptLog } from '../../support/log.ts';

const httpAnswer = z.strictObject({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
const problemBody = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  requestId: z.string(),
});

const ping = route({
  operationId: 'ping',
  method: 'GET',
  path: '/ping',
  function: 'tenants',
  access: 'operate',
  summary: 'Answer',
  responses: {},
  examples: [],
});

/** Calls a handler, and reads its answer as API Gateway would. */
async function ask(handler: (event: unknown, context: ReturnType<typeof invocation>) => unknown, event: unknown) {
  const given = httpAnswer.parse(await handler(event, invocation()));
  return { status: given.statusCode, headers: given.headers, body: z.looseObject({}).parse(JSON.parse(given.body)) };
}

const throwing = (thrown: unknown) => {
  const { log, lines } = keptLog();
  const handler = httpHandler({
    log,
    calls: [
      on(ping, async () => {
        throw thrown;
      }),
    ],
  });
  return { handler, lines };
};

const SECRET = 'hunter2-do-not-tell';

class Hostile extends Error {
  override get message(): string {
    throw new Error(SECRET);
  }
}

const unreadable = new Proxy(
  {},
  {
    get() {
      throw new Error(SECRET);
    },
    getPrototypeOf() {
      throw new Error(SECRET);
    },
  },
);

const hostile: Readonly<Record<string, unknown>> = {
  error: new Error(SECRET),
  'error with a cause': new TypeError(SECRET, { cause: new Error(SECRET) }),
  'error that looks like an answer': Object.assign(new Error(SECRET), { statusCode: 418, expose: true, body: SECRET }),
  'several errors': new AggregateError([new Error(SECRET)], SECRET),
  'error without a message to be had': new Hostile(SECRET),
  'error that throws when asked': Object.defineProperty(new Error(SECRET), 'retryable', {
    get() {
      throw new Error(SECRET);
    },
  }),
  'object without a class to be had': unreadable,
  text: SECRET,
  symbol: Symbol(SECRET),
  function: () => SECRET,
  null: null,
  undefined,
  'object that looks like an answer': { toString: () => SECRET, message: SECRET, statusCode: 200 },
};

/** As functions that give the value: some cannot even be printed. */
const thrown = fc.oneof(
  fc.constantFrom(...Object.keys(hostile)).map((name) => ({ name, value: () => hostile[name] })),
  fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true }).map((value) => ({
    name: 'anything',
    value: () => value,
  })),
);

describe('whatever is thrown', () => {
  it('is answered with a valid problem that does not tell of it', async () => {
    await fc.assert(
      fc.asyncProperty(thrown, async ({ value }) => {
        const { handler } = throwing(value());
        const { status, headers, body } = await ask(handler, httpEvent(ping));
        expect(status).toBe(500);
        expect(headers['content-type']).toBe('application/problem+json');
        expect(problemBody.parse(body)).toEqual({
          type: 'urn:rota:problem:internal',
          title: problems.internal.title,
          status: 500,
          detail: expect.any(String),
          requestId: REQUEST_ID,
        });
        expect(JSON.stringify(body)).not.toContain(SECRET);
      }),
      { numRuns: 300 },
    );
  });

  it('is in the log, with the request id that the caller was told', async () => {
    const { handler, lines } = throwing(new Error('the reason'));
    await ask(handler, httpEvent(ping));
    expect(lines).toContainEqual({
      level: 'error',
      message: 'request failed',
      fields: expect.objectContaining({ requestId: REQUEST_ID, reason: 'Error: the reason' }),
    });
  });

  it('is a 503 with Retry-After when the queue is away', async () => {
    const { status, headers, body } = await ask(throwing(new QueueUnavailable(SECRET)).handler, httpEvent(ping));
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('2');
    expect(body).toHaveProperty('type', 'urn:rota:problem:unavailable');
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it('keeps its own members from taking the place of the common ones', async () => {
    const problem = new RequestProblem('unknown_plan', 'None.', {
      status: 200,
      type: 'x',
      title: 'x',
      plans: ['free'],
    });
    const { status, body } = await ask(throwing(problem).handler, httpEvent(ping));
    expect(status).toBe(422);
    expect(body).toEqual({
      type: 'urn:rota:problem:unknown_plan',
      title: problems.unknown_plan.title,
      status: 422,
      detail: 'None.',
      plans: ['free'],
      requestId: REQUEST_ID,
    });
  });
});

const job = { type: 'echo', payload: null };
const batch = (count: number) => Array.from({ length: count }, () => job);

describe('a request', () => {
  const { log, lines } = keptLog();
  const handler = httpHandler({
    log,
    calls: [
      on(enqueueJobs, async ({ body, source }) => answer(200, { body, source })),
      on(listTenants, async ({ query }) => answer(200, { query })),
      on(putTenant, async ({ params, body }) => answer(200, { params, body })),
    ],
    direct: onDirect(z.strictObject({ n: z.number() }), async ({ n }) => answer(202, { n })),
  });
  const post = (body: unknown, given: Parameters<typeof httpEvent>[1] = {}) =>
    ask(handler, httpEvent(enqueueJobs, { body, ...given }));

  it('is told every fault by its place', async () => {
    const body = {
      tenant: 'e\u0301',
      jobs: [
        { type: 3, payload: 1, cost: 0 },
        { type: 'echo', 'odd name': 1 },
        { ...job, delaySeconds: -1 },
      ],
      extra: 1,
    };
    const { status, body: told } = await post(body);
    expect(status).toBe(400);
    expect(told.errors).toEqual([
      { in: 'body', path: 'tenant', detail: 'given "e\u0301", expected Unicode normalisation form C' },
      { in: 'body', path: 'jobs[0].type', detail: 'given 3, expected a string' },
      { in: 'body', path: 'jobs[0].cost', detail: 'given 0, expected at least 0.01' },
      { in: 'body', path: 'jobs[1].payload', detail: 'missing, expected any JSON' },
      { in: 'body', path: 'jobs[1]["odd name"]', detail: 'there is no such field' },
      { in: 'body', path: 'jobs[2].delaySeconds', detail: 'given -1, expected at least 0' },
      { in: 'body', path: 'extra', detail: 'there is no such field' },
    ]);
  });

  it.each([
    ['weight 0', { weight: 0 }, 'given 0, expected at least 0.01'],
    ['weight -1', { weight: -1 }, 'given -1, expected at least 0.01'],
    ['weight "3"', { weight: '3' }, 'given "3", expected a number'],
    ['weight null, which NaN is written as', { weight: Number.NaN }, 'given null, expected a number'],
    ['half a job', { maxDepth: 1.5 }, 'given 1.5, expected a whole number'],
    ['an own __proto__', JSON.parse('{"__proto__":{"weight":3}}'), 'there is no such field'],
  ])('is refused with %s', async (_name, body, detail) => {
    const { status, body: told } = await ask(handler, httpEvent(putTenant, { params: { tenant: 'a' }, body }));
    expect(status).toBe(400);
    expect(told.errors).toEqual([{ in: 'body', path: expect.any(String), detail }]);
  });

  it('may have 500 jobs and not 501', async () => {
    expect(await post({ tenant: 'a', jobs: batch(500) })).toHaveProperty('status', 200);
    const { status, body } = await post({ tenant: 'a', jobs: batch(501) });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { in: 'body', path: 'jobs', detail: 'given an array of 501, expected at most 500 entries' },
    ]);
  });

  it.each([
    ['no JSON', '{"tenant":', {}],
    ['NaN, which JSON has not', '{"weight":NaN}', {}],
    ['nothing', '', {}],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64'), { base64: true }],
    ['half a character', Buffer.from('"🐢"').subarray(0, 3).toString('base64'), { base64: true }],
  ])('is refused with %s', async (_name, body, given) => {
    const { status, body: told } = await post(body, given);
    expect(status).toBe(400);
    expect(told).toHaveProperty('type', 'urn:rota:problem:malformed_body');
  });

  it('may come in base64', async () => {
    const body = Buffer.from(JSON.stringify({ tenant: '🐢', jobs: [job] })).toString('base64');
    expect(await post(body, { base64: true })).toMatchObject({ status: 200, body: { body: { tenant: '🐢' } } });
  });

  it.each([undefined, 'text/plain', 'application/json; charset=latin1', 'application/jsonx'])(
    'is refused with the media type %s',
    async (type) => {
      const event = httpEvent(enqueueJobs, { body: { tenant: 'a', jobs: [job] } });
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      expect(await ask(handler, { ...event, headers })).toHaveProperty('status', 415);
    },
  );

  it.each(['application/json; charset=UTF-8', 'Application/JSON'])('is taken with the media type %s', async (type) => {
    expect(await post({ tenant: 'a', jobs: [job] }, { headers: { 'content-type': type } })).toHaveProperty(
      'status',
      200,
    );
  });

  it.each([false, true])('may be as large as stated and no larger (base64: %s)', async (base64) => {
    const sized = (bytes: number) => {
      const text = JSON.stringify({ tenant: 'a', jobs: [job] }).padEnd(bytes, ' ');
      return base64 ? Buffer.from(text).toString('base64') : text;
    };
    expect(await post(sized(1_048_576), { base64 })).toHaveProperty('status', 200);
    const { status, body } = await post(sized(1_048_577), { base64 });
    expect(status).toBe(413);
    expect(body).toHaveProperty('type', 'urn:rota:problem:too_large');
  });

  it('has its path and query held against the route too', async () => {
    const event = httpEvent(listTenants, { query: { limit: '1001', sort: 'name', page: '2' } });
    expect(await ask(handler, event)).toMatchObject({
      status: 400,
      body: {
        errors: [
          { in: 'query', path: 'sort', detail: 'given "name", expected one of depth, oldest' },
          { in: 'query', path: 'limit' },
          { in: 'query', path: 'page', detail: 'there is no such field' },
        ],
      },
    });
    const segments = await ask(handler, httpEvent(putTenant, { params: { tenant: '~YWNtZQ' }, body: {} }));
    expect(segments).toMatchObject({ status: 400, body: { errors: [{ in: 'path', path: 'tenant' }] } });
    expect(await ask(handler, httpEvent(listTenants))).toMatchObject({
      body: { query: { sort: 'depth', limit: 100 } },
    });
  });

  it('gets an answer that Lambda takes, however many faults it has', async () => {
    const fields = Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`f${i}`, 0]));
    const { status, body } = await post({ jobs: [job], ...fields });
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(1_000);
  });

  it('of a route there is not is a 404', async () => {
    expect(await ask(handler, httpEvent({ method: 'GET', path: '/v2' }))).toHaveProperty('status', 404);
  });

  it('by a direct invoke gets one flat object', async () => {
    expect(await handler({ n: 1 }, invocation())).toEqual({ n: 1, status: 202 });
    expect(await handler({ n: 'x' }, invocation())).toMatchObject({
      status: 400,
      type: 'urn:rota:problem:invalid_request',
      errors: [{ in: 'body', path: 'n', detail: 'given "x", expected a number' }],
      requestId: invocation().awsRequestId,
    });
  });

  it('leaves nothing of its body in the log', async () => {
    await post({ tenant: 'a', jobs: [{ type: 'echo', payload: SECRET }], [SECRET]: SECRET });
    await post({ tenant: 'a', jobs: [{ type: 'echo', payload: SECRET }] });
    await post(SECRET);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});
