import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { secretsEndpoint, secretValue } from '../../../functions/lib/queue/secret-value.ts';
import { describeThrown } from '../../../functions/lib/telemetry/logger.ts';

const SECRET = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:rota-AbCdEf';
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' };

let server: Server;
let endpoint: string;
let answers: { status: number; body: string };
let asked: { headers: NodeJS.Dict<string | string[]>; body: string }[];

async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push({ headers: request.headers, body: await readText(request) });
  response.writeHead(answers.status).end(answers.body);
}

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    void answerTo(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => server.close());

const ask = () => secretValue({ secretId: SECRET, region: 'eu-west-1', endpoint, credentials });

it('asks for the secret by a signed request', async () => {
  answers = { status: 200, body: JSON.stringify({ ARN: SECRET, SecretString: 'text' }) };
  expect(await ask()).toBe('text');
  expect(asked).toEqual([
    {
      headers: expect.objectContaining({
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'secretsmanager.GetSecretValue',
        'x-amz-security-token': 'session',
        authorization: expect.stringContaining('/eu-west-1/secretsmanager/aws4_request'),
      }),
      body: JSON.stringify({ SecretId: SECRET }),
    },
  ]);
});

it.each([
  { why: 'AccessDeniedException', status: 400, body: '{"__type":"AccessDeniedException","Message":"not you"}' },
  { why: 'without a SecretString', status: 200, body: '{"SecretBinary":"aGlkZGVu"}' },
  { why: 'JSON', status: 502, body: 'hidden' },
])('says why it does not get it: $why', async ({ why, ...answer }) => {
  answers = answer;
  const error = await ask().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: `Secrets Manager does not give ${SECRET}` });
  expect(describeThrown(error)).toContain(why);
  expect(describeThrown(error)).not.toContain('aGlkZGVu');
});

it.each([
  { region: 'eu-west-1', env: {}, url: 'https://secretsmanager.eu-west-1.amazonaws.com/' },
  { region: 'cn-north-1', env: {}, url: 'https://secretsmanager.cn-north-1.amazonaws.com.cn/' },
  {
    region: 'eu-west-1',
    env: { AWS_USE_DUALSTACK_ENDPOINT: 'true' },
    url: 'https://secretsmanager.eu-west-1.api.aws/',
  },
  { region: 'eu-west-1', env: { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://here/' }, url: 'http://here/' },
])('asks in $region at $url', ({ region, env, url }) => {
  expect(secretsEndpoint(region, env)).toBe(url);
});
