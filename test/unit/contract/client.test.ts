import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClientOptions, createClient, RotaProblem } from '../../../functions/contract/client.ts';

interface Seen {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: { tenant?: string; jobs: { payload: unknown }[] };
}
type Scripted = { status: number; body?: unknown; headers?: Record<string, string> } | 'hang up';

let server: Server;
let url: string;
let seen: Seen[];
/** Answers in turn; the last one again and again. */
let script: Scripted[];

const accepted = (count: number) => ({
  jobs: Array.from({ length: count }, (_, i) => ({ id: `0-${seen.length}-${i}` })),
  depth: 9,
});

beforeEach(async () => {
  seen = [];
  script = [];
  server = createServer((request, response) => {
    void readText(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      seen.push({ method, path, headers, body: body === '' ? { jobs: [] } : JSON.parse(body) });
      const given = script.length > 1 ? script.shift() : script[0];
      if (given === 'hang up') return request.socket.destroy();
      const count = seen.at(-1)?.body.jobs.length ?? 0;
      response.writeHead(given?.status ?? 202, given?.headers);
      return response.end(JSON.stringify(given?.body ?? accepted(count)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const client = (given: Partial<ClientOptions> = {}) => createClient({ url, ...given });
const echo = (payload: unknown) => ({ type: 'echo', payload });
const problem = (code: string, status: number, retryAfter?: string): Scripted => ({
  status,
  body: { type: `urn:rota:problem:${code}`, detail: `is ${code}`, status },
  ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
});

describe('an enqueue', () => {
  it('goes in parts of 500 jobs, in order, each under a key of its own', async () => {
    const jobs = Array.from({ length: 1_201 }, (_, n) => echo(n));
    const { ids, depth } = await client().enqueue({ tenant: 'acme', jobs, idempotencyKey: 'k' });
    expect(seen.map(({ body }) => body.jobs.length)).toEqual([500, 500, 201]);
    expect(seen.flatMap(({ body }) => body.jobs.map(({ payload }) => payload))).toEqual(
      jobs.map(({ payload }) => payload),
    );
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k:1', 'k:2']);
    expect(new Set(ids).size).toBe(1_201);
    expect(depth).toBe(9);
  });

  it('goes in parts of 1 MiB, counted as they are sent', async () => {
    const jobs = Array.from({ length: 9 }, () => echo('é'.repeat(110_000)));
    await client().enqueue({ tenant: 'acme', jobs });
    expect(seen.length).toBeGreaterThan(1);
    for (const { headers } of seen) expect(Number(headers['content-length'])).toBeLessThanOrEqual(1_048_576);
  });

  it('refuses a job that no request could hold, before anything is sent', async () => {
    const jobs = [echo(1), echo('x'.repeat(262_144))];
    await expect(client().enqueue({ tenant: 'acme', jobs })).rejects.toThrow('jobs[1].payload has 262146 bytes');
    expect(seen).toEqual([]);
  });

  it('is sent again under the same key when its answer was lost', async () => {
    script = ['hang up', { status: 202, body: { jobs: [{ id: '0-1' }], depth: 1 } }];
    expect(await client().enqueue({ tenant: 'acme', jobs: [echo(1)] })).toEqual({ ids: ['0-1'], depth: 1 });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it('tells what was admitted before a part was refused', async () => {
    script = [{ status: 202, body: { jobs: [{ id: '0-1' }], depth: 1 } }, problem('tenant_full', 429, '3600')];
    const error = await client()
      .enqueue({ tenant: 'acme', jobs: Array.from({ length: 501 }, echo) })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'tenant_full', status: 429, retryAfterSeconds: 3_600, admitted: ['0-1'] });
  });
});

describe('a refusal that may pass', () => {
  it.each([
    { what: 'of a full tenant', answer: problem('tenant_full', 429, '0') },
    { what: 'of a queue that is away', answer: problem('unavailable', 503, '0') },
    {
      what: 'of the gateway, which says nothing of when',
      answer: { status: 429, body: { message: 'Too Many Requests' } },
    },
    { what: 'of the gateway, in HTML', answer: { status: 502, body: '<html>' } },
  ])('is waited out: $what', async ({ answer }) => {
    script = [answer, answer, { status: 200, body: { plan: 'free' } }];
    expect(await client().getTenant('acme')).toEqual({ plan: 'free' });
    expect(seen).toHaveLength(3);
  });

  it('is waited for as long as it says, and not much longer', async () => {
    script = [problem('tenant_full', 429, '1'), { status: 200, body: {} }];
    const begin = performance.now();
    await client().getTenant('acme');
    expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
  });

  it('is told at once when it would take longer than the client waits', async () => {
    script = [problem('tenant_full', 429, '31')];
    await expect(client().getTenant('acme')).rejects.toMatchObject({ code: 'tenant_full', retryAfterSeconds: 31 });
    await expect(client({ maxWaitMs: 0 }).getTenant('acme')).rejects.toBeInstanceOf(RotaProblem);
    expect(seen).toHaveLength(2);
  });

  it('is not waited for when it never passes', async () => {
    for (const [code, status] of [
      ['batch_exceeds_limit', 429],
      ['unknown_plan', 422],
      ['invalid_request', 400],
      ['internal', 500],
    ] as const) {
      seen = [];
      script = [problem(code, status, '0')];
      await expect(client().getTenant('acme')).rejects.toMatchObject({ code, status, message: `is ${code}` });
      expect(seen).toHaveLength(1);
    }
  });

  it('ends with the signal of the call', async () => {
    script = [problem('tenant_full', 429, '20')];
    const ending = new AbortController();
    const called = client().getTenant('acme', { signal: ending.signal });
    await expect.poll(() => seen.length).toBe(1);
    ending.abort();
    await expect(called).rejects.toThrow('abort');
  });
});

describe('who calls', () => {
  it('is told by a token, asked for at every request', async () => {
    let asked = 0;
    const named = client({ auth: { bearer: () => `token-${(asked += 1)}` } });
    await named.getQueue();
    await named.getQueue();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('is told by a signature as the AWS SDK makes it', async () => {
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' };
    await client({ auth: { sigv4: { region: 'eu-west-1', credentials } } }).listTenants({ limit: 2, sort: 'oldest' });
    const headers = seen[0]?.headers ?? {};
    const signer = new SignatureV4({
      service: 'execute-api',
      region: 'eu-west-1',
      credentials,
      sha256: Sha256,
      applyChecksum: false,
    });
    const date = String(headers['x-amz-date']);
    const at = new Date(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    const signed = await signer.sign(
      {
        method: 'GET',
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: '/v1/tenants',
        query: { limit: '2', sort: 'oldest' },
        headers: { host: String(headers.host) },
      },
      { signingDate: at },
    );
    expect(headers.authorization).toBe(signed.headers.authorization);
  });

  it('says an odd tenant so that gateways and signers leave it alone', async () => {
    script = [{ status: 200, body: {} }];
    await client().getTenant('né:1|*%🐢');
    expect(seen[0]?.path).toBe('/v1/tenants/~bsOpOjF8KiXwn5Ci');
  });

  it.each(['../jobs', '../../victim/pause?', '', '0-XY'])(
    'sends nothing about a dead letter %j, which is no id',
    (job) => {
      expect(() => client().dropDead('acme', job)).toThrow('expected the id of a job');
      expect(() => client().redriveDead('acme', job)).toThrow('expected the id of a job');
      expect(seen).toEqual([]);
    },
  );
});
