import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Local, startLocal } from '../../infra/local/local.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { writeSmallStack } from '../support/small-stack.ts';

const mirror = `
export const handler = async (event) => {
  if (event.headers['x-fail']) throw new Error('on purpose');
  if (event.headers['x-answer']) return JSON.parse(event.headers['x-answer']);
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(event) };
};`;

const route = (key: string, target: string, more: Record<string, unknown> = {}) => ({
  Type: 'AWS::ApiGatewayV2::Route',
  Properties: {
    RouteKey: key,
    Target: { 'Fn::Join': ['/', ['integrations', { Ref: `${target}Integration` }]] },
    ...more,
  },
});

let local: Local;
let removeStack: () => Promise<void>;
let issuer: Issuer;
const problems: string[] = [];

beforeAll(async () => {
  issuer = await startIssuer();
  const jwt = { AuthorizationType: 'JWT', AuthorizerId: { Ref: 'Jwt' } };
  const stack = await writeSmallStack({
    functions: {
      mirror: { source: mirror, servesApi: true },
      unadmitted: { source: mirror },
      narrow: { source: mirror, servesApi: true, properties: { ReservedConcurrentExecutions: 0 } },
    },
    resources: {
      Open: route('GET /open', 'mirror'),
      Post: route('POST /v1/things', 'mirror', { AuthorizationType: 'AWS_IAM' }),
      List: route('GET /v1/things/list', 'mirror', { AuthorizationType: 'AWS_IAM' }),
      One: route('GET /v1/things/{thing}', 'mirror', { AuthorizationType: 'AWS_IAM' }),
      Part: route('GET /v1/things/{thing}/{part}', 'mirror', { AuthorizationType: 'AWS_IAM' }),
      Files: route('ANY /files/{path+}', 'mirror'),
      Unadmitted: route('GET /unadmitted', 'unadmitted'),
      Narrow: route('GET /narrow', 'narrow'),
      Private: route('GET /private', 'mirror', jwt),
      Scoped: route('GET /scoped', 'mirror', { ...jwt, AuthorizationScopes: ['rota/write'] }),
      Jwt: {
        Type: 'AWS::ApiGatewayV2::Authorizer',
        Properties: {
          AuthorizerType: 'JWT',
          IdentitySource: ['$request.header.Authorization'],
          JwtConfiguration: { Issuer: issuer.url, Audience: ['rota'] },
        },
      },
    },
  });
  removeStack = () => stack.remove();
  local = await startLocal({ assembly: stack.folder, onProblem: (line) => problems.push(line) });
});

afterAll(async () => {
  await local?.stop();
  await removeStack?.();
});

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(local.apiUrl + path, init);
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

test('makes an event of payload format 2.0', async () => {
  const { status, body } = await call('/v1/things?a=1&a=2&b=%20x', {
    method: 'POST',
    body: '{"text":"ü"}',
    headers: { 'Content-Type': 'application/json', 'X-Mixed-Case': 'Kept', cookie: 'one=1; two=2' },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    version: '2.0',
    routeKey: 'POST /v1/things',
    rawPath: '/v1/things',
    rawQueryString: 'a=1&a=2&b=%20x',
    queryStringParameters: { a: '1,2', b: ' x' },
    cookies: ['one=1', 'two=2'],
    headers: { 'content-type': 'application/json', 'x-mixed-case': 'Kept' },
    requestContext: { http: { method: 'POST', path: '/v1/things' }, stage: '$default', authorizer: { iam: {} } },
    body: '{"text":"ü"}',
    isBase64Encoded: false,
  });
  expect(body).not.toHaveProperty('headers.cookie');
  expect(body).not.toHaveProperty('pathParameters');
});

test('hands on bytes that are no text as base64', async () => {
  const { body } = await call('/v1/things', {
    method: 'POST',
    body: new Uint8Array([0, 255, 128]),
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(body).toMatchObject({ body: 'AP+A', isBase64Encoded: true });
});

test('prefers a literal route to a parameter, and decodes the path before it routes', async () => {
  expect((await call('/v1/things/list')).body).toMatchObject({ routeKey: 'GET /v1/things/list' });
  expect((await call('/v1/things/a%20b')).body).toMatchObject({ pathParameters: { thing: 'a b' } });
  expect((await call('/v1/things/a%2Fb')).body).toMatchObject({ pathParameters: { thing: 'a', part: 'b' } });
  expect((await call('/v1/things/a%3Fb')).body).toMatchObject({
    rawPath: '/v1/things/a',
    pathParameters: { thing: 'a' },
  });
  expect((await call('/files/a/b/c')).body).toMatchObject({ pathParameters: { path: 'a/b/c' } });
});

test('makes its own answers where no function is asked', async () => {
  for (const [path, init] of [
    ['/v1/nothing', {}],
    ['/v1/things', { method: 'DELETE' }],
    ['/v1/things/a%2Fb%2Fc', {}],
    ['/v1/things/', {}],
  ] as const) {
    const { status, body } = await call(path, init);
    expect({ path, status, body }).toEqual({ path, status: 404, body: { message: 'Not Found' } });
  }
  const large = await call('/v1/things', { method: 'POST', body: 'x'.repeat(10_485_761) });
  expect(large).toMatchObject({ status: 413, body: { message: 'Request Entity Too Large' } });
});

test('answers 500 for a failed function and for one that does not admit the gateway, 503 for a throttled one', async () => {
  expect(await call('/open', { headers: { 'x-fail': 'yes' } })).toMatchObject({
    status: 500,
    body: { message: 'Internal Server Error' },
  });
  expect(await call('/unadmitted')).toMatchObject({ status: 500, body: { message: 'Internal Server Error' } });
  expect(problems.some((line) => line.includes('unadmitted has no permission'))).toBe(true);
  expect(await call('/narrow')).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
});

test('passes on status, headers, cookies and base64 bodies of the handler', async () => {
  const answer = {
    statusCode: 429,
    headers: { 'Retry-After': 7, 'content-type': 'application/problem+json' },
    cookies: ['a=1', 'b=2'],
    body: Buffer.from('{"full":true}').toString('base64'),
    isBase64Encoded: true,
  };
  const { status, headers, body } = await call('/open', { headers: { 'x-answer': JSON.stringify(answer) } });
  expect({ status, body }).toEqual({ status: 429, body: { full: true } });
  expect(headers.get('retry-after')).toBe('7');
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const bare = await call('/open', { headers: { 'x-answer': '{"just":"this"}' } });
  expect(bare).toMatchObject({ status: 200, body: { just: 'this' } });
});

const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });

test('verifies JWTs against the keys of their issuer', async () => {
  const unauthorized = { status: 401, body: { message: 'Unauthorized' } };
  expect(await call('/private')).toMatchObject(unauthorized);
  expect(await call('/private', bearer('no.token.atall'))).toMatchObject(unauthorized);
  expect(await call('/private', bearer(await issuer.token({ forged: true })))).toMatchObject(unauthorized);
  expect(await call('/private', bearer(await issuer.token({ audience: 'elsewhere' })))).toMatchObject(unauthorized);
  expect(await call('/private', bearer(await issuer.token({ expires: '-1m' })))).toMatchObject(unauthorized);
  expect(await call('/private', bearer(await issuer.token()))).toMatchObject({ status: 200 });
});

test('hands claims on as text and checks scopes', async () => {
  const claims = { tenant: 'acme', level: 3, admin: true, groups: ['a', 'b'], scope: 'rota/read' };
  const { body } = await call('/private', bearer(await issuer.token({ claims })));
  expect(body).toMatchObject({
    requestContext: {
      authorizer: {
        jwt: { claims: { tenant: 'acme', level: '3', admin: 'true', groups: '[a b]', aud: 'rota' }, scopes: null },
      },
    },
  });
  expect(await call('/scoped', bearer(await issuer.token({ claims })))).toMatchObject({
    status: 403,
    body: { message: 'Forbidden' },
  });
  const allowed = await call('/scoped', bearer(await issuer.token({ claims: { scope: 'rota/read rota/write' } })));
  expect(allowed.body).toMatchObject({
    requestContext: { authorizer: { jwt: { scopes: ['rota/read', 'rota/write'] } } },
  });
});
