import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { PermanentFailure, RetryAfter } from '../../../functions/process/jobs/job.ts';
import { callWebhook, webhookPayload } from '../../../functions/process/jobs/webhook-call.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let host: string;
let seen: Seen[] = [];
let respond: (request: IncomingMessage, response: ServerResponse) => void;

async function record(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  seen.push({ method, url, headers, body: await text(request) });
  respond(request, response);
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void record(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the recorder has no port');
  host = `127.0.0.1:${address.port}`;
});

beforeEach(() => {
  seen = [];
  respond = (_request, response) => {
    response.end();
  };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface CallOptions {
  allowedHosts?: string[];
  tenant?: string;
  signal?: AbortSignal;
  keys?: string[];
  traceparent?: string;
}

const call = (
  payload: unknown,
  { allowedHosts = ['127.0.0.1'], tenant = 'acme', signal = new AbortController().signal, ...more }: CallOptions = {},
) =>
  callWebhook(
    {
      id: '0-1',
      tenant,
      type: 'webhook',
      attempt: 2,
      payload: webhookPayload.parse(payload),
      traceparent: more.traceparent,
    },
    { allowedHosts, keys: more.keys ?? [], signal },
  );

const redirect = (status: number, location: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.url === '/final') response.end();
  else response.writeHead(status, { location }).end();
};

describe('a webhook', () => {
  it('posts its body as JSON, with headers that say which job it is', async () => {
    await call(
      { url: `http://${host}/hook?x=1`, headers: { 'X-Own': 'y' }, body: { a: [] } },
      { tenant: 'a:b é🐢\u2028' },
    );
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/hook?x=1',
        body: '{"a":[]}',
        headers: expect.objectContaining({
          'content-type': 'application/json',
          'x-own': 'y',
          'rota-job-id': '0-1',
          'rota-tenant': encodeURIComponent('a:b é🐢\u2028'),
          'rota-attempt': '2',
        }),
      },
    ]);
  });

  it('sends whatever JSON its body is, byte for byte', async () => {
    const body = fc.oneof(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.constantFrom('\ud800', -0, [], {}, JSON.parse('{"__proto__":{"a":1}}')),
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        seen = [];
        await call({ url: `http://${host}/`, body: value });
        const careful = JSON.stringify(value, (_key, inner) => (Object.is(inner, -0) ? JSON.rawJSON('-0') : inner));
        expect(seen[0]?.body).toBe(careful);
      }),
      { numRuns: 60 },
    );
  });

  it('cannot pose as another job, nor choose the site', async () => {
    await call({ url: `http://${host}/`, headers: { 'ROTA-Tenant': 'globex' } });
    expect(seen[0]?.headers).toHaveProperty('rota-tenant', 'acme');
    for (const name of ['Host', 'content-length', 'a b', 'x\r\ny']) {
      expect(webhookPayload.safeParse({ url: 'http://a', headers: { [name]: '1' } }).success).toBe(false);
    }
  });

  it('with GET has no body', async () => {
    await call({ url: `http://${host}/`, method: 'GET' });
    expect(seen[0]).toMatchObject({ method: 'GET', body: '' });
    expect(webhookPayload.safeParse({ url: 'http://a', method: 'GET', body: 1 }).success).toBe(false);
  });

  it.each([300, 404, 429, 500])('has failed with the answer %i', async (status) => {
    respond = (_request, response) => {
      response.writeHead(status).end();
    };
    await expect(call({ url: `http://${host}/` })).rejects.toThrow(`${host} answered ${status}`);
    await expect(call({ url: `http://${host}/` })).rejects.not.toBeInstanceOf(PermanentFailure);
  });

  it('reaches only hosts that are allowed, with any port or the one named', async () => {
    const url = `http://${host}/`;
    await call({ url }, { allowedHosts: [host] });
    expect(seen).toHaveLength(1);
    for (const allowedHosts of [[], ['127.0.0.1:1'], ['localhost'], ['127.0.0.11']]) {
      await expect(call({ url }, { allowedHosts })).rejects.toBeInstanceOf(PermanentFailure);
    }
    for (const sly of [
      `http://127.0.0.1@evil.test/`,
      'file:///etc/passwd',
      '//127.0.0.1/',
      'http://127.0.0.1.evil.test/',
      'http://u:p@127.0.0.1/',
    ]) {
      await expect(call({ url: sly })).rejects.toBeInstanceOf(PermanentFailure);
    }
    expect(seen).toHaveLength(1);
  });

  it('follows a redirect that keeps method and body, on allowed hosts', async () => {
    respond = redirect(307, '/final');
    await call({ url: `http://${host}/`, body: 1 });
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/', '1'],
      ['POST', '/final', '1'],
    ]);
  });

  it('never follows a redirect off the allowed hosts', async () => {
    respond = redirect(308, `http://localhost:${host.split(':')[1]}/final`);
    await expect(call({ url: `http://${host}/` })).rejects.toBeInstanceOf(PermanentFailure);
    expect(seen).toHaveLength(1);
  });

  it('has failed with a redirect that would make a GET of it, and with a circle', async () => {
    respond = redirect(303, '/final');
    await expect(call({ url: `http://${host}/` })).rejects.toThrow('answered 303');
    respond = redirect(307, '/');
    await expect(call({ url: `http://${host}/` })).rejects.toThrow('more than 5 redirects');
  });

  it.each([
    { status: 429, header: '17', seconds: 17 },
    { status: 503, header: new Date(Date.now() + 60_000).toUTCString(), seconds: 60 },
    { status: 429, header: '99999999999', seconds: 2_592_000 },
  ])('comes again when the host says: $status with $header', async ({ status, header, seconds }) => {
    respond = (_request, response) => response.writeHead(status, { 'retry-after': header }).end();
    const error = await call({ url: `http://${host}/` }).catch((thrown: unknown) => thrown);
    if (!(error instanceof RetryAfter)) throw error;
    expect(Math.abs(error.seconds - seconds)).toBeLessThan(10);
    expect(error.message).toContain(`answered ${status}`);
  });

  it.each([
    { status: 429, header: 'soon' },
    { status: 500, header: '17' },
  ])('goes by the backoff with $status and $header', async ({ status, header }) => {
    respond = (_request, response) => response.writeHead(status, { 'retry-after': header }).end();
    await expect(call({ url: `http://${host}/` })).rejects.not.toBeInstanceOf(RetryAfter);
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    respond = () => controller.abort(new Error('time is up'));
    await expect(call({ url: `http://${host}/` }, { signal: controller.signal })).rejects.toThrow('time is up');
  });
});

const KEYS = [randomBytes(32), randomBytes(24)].map((bytes) => `whsec_${bytes.toString('base64')}`);

/** What the receiver's library says of a request; throws when the signature is none of the key's. */
const verify = (key: string, { body, headers }: Seen) =>
  new Webhook(key).verify(
    body,
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  );

const lastSeen = () => seen.at(-1) ?? expect.unreachable('nothing came');

describe('a signature', () => {
  it('is good for whoever knows one of the keys, over body, id and time', async () => {
    await call({ url: `http://${host}/signed`, body: { invoice: 'né 🐢' } }, { keys: KEYS });
    const request = lastSeen();
    for (const key of KEYS) expect(verify(key, request)).toEqual({ invoice: 'né 🐢' });
    expect(request.headers['webhook-id']).toBe('0-1');
    const changes: Partial<Seen>[] = [
      { body: '{"invoice":"other"}' },
      { headers: { ...request.headers, 'webhook-id': '0-2' } },
      {
        headers: { ...request.headers, 'webhook-timestamp': String(Number(request.headers['webhook-timestamp']) + 1) },
      },
    ];
    for (const change of changes) {
      expect(() => verify(KEYS[0] ?? '', { ...request, ...change })).toThrow('No matching signature');
    }
    expect(() => verify(`whsec_${randomBytes(32).toString('base64')}`, request)).toThrow('No matching signature');
  });

  it('stands for an empty body, too, and no caller can pose as it', async () => {
    const headers = { 'Webhook-Signature': 'v1,bm8=', 'webhook-id': 'mine', 'webhook-timestamp': '1' };
    await call({ url: `http://${host}/signed`, method: 'GET', headers }, { keys: KEYS.slice(0, 1) });
    const { headers: sent } = lastSeen();
    const key = Buffer.from((KEYS[0] ?? '').slice(6), 'base64');
    const expected = createHmac('sha256', key)
      .update(`0-1.${String(sent['webhook-timestamp'])}.`)
      .digest('base64');
    expect(sent['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('is left out where there are no keys', async () => {
    await call({ url: `http://${host}/unsigned`, body: 1 });
    expect(Object.keys(lastSeen().headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  });
});

describe('a trace', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  it('goes along, unless the job names another', async () => {
    await call({ url: `http://${host}/traced` }, { traceparent });
    expect(lastSeen().headers.traceparent).toBe(traceparent);
    const own = traceparent.replace('4bf9', '0000');
    await call({ url: `http://${host}/traced`, headers: { Traceparent: own } }, { traceparent });
    expect(lastSeen().headers.traceparent).toBe(own);
  });
});
