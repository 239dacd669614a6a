import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { connectRedis } from '../../functions/lib/queue/connect.ts';
import { describeThrown } from '../../functions/lib/telemetry/logger.ts';
import { clientOptions, type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';

const USER = 'rota-default';
const trusted = getCACertificates('default');

let redis: RunningRedis;
let admin: Redis;
let secrets: Server;
/** What Secrets Manager holds; undefined when it does not let us. */
let secret: string | undefined;
let requests = 0;
const clients: (Redis | Cluster)[] = [];

beforeAll(async () => {
  redis = await startRedis({ cluster: true, secure: true });
  setDefaultCACertificates([...trusted, readFileSync(redis.caFile ?? '', 'utf8')]);
  admin = new Redis(clientOptions(redis));
  secrets = createServer((_, response) => {
    requests++;
    response.writeHead(secret === undefined ? 400 : 200);
    response.end(JSON.stringify(secret === undefined ? { __type: 'AccessDeniedException' } : { SecretString: secret }));
  });
  await new Promise<void>((resolve) => secrets.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  admin.disconnect();
  secrets.close();
  secrets.closeAllConnections();
  await redis.stop();
});
beforeEach(() => {
  requests = 0;
});
afterEach(() => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.disconnect();
});

const kept = (password: string) => JSON.stringify({ username: USER, password });
const accept = (...passwords: string[]) =>
  admin.acl('SETUSER', USER, 'on', 'resetpass', ...passwords.map((each) => `>${each}`), '~*', '+@all');
const killAll = () => admin.client('KILL', 'USER', USER);

function open(): Redis | Cluster {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { port } = secrets.address() as AddressInfo;
  const connection = { url: `rediss://${USER}@localhost:${redis.port}`, cluster: true, name: 'c', secret: 'arn' };
  const client = connectRedis(
    { ...connection, auth: 'password' },
    {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}/`,
    },
  );
  clients.push(client);
  return client;
}

it('connects with the password that the secret holds, and asks for it once', async () => {
  secret = kept('first');
  await accept('first');
  const client = open();
  expect(await client.set('a', '1')).toBe('OK');
  await killAll();
  await vi.waitFor(async () => expect(await client.get('a')).toBe('1'));
  expect(requests).toBe(1);
});

it('takes the new password after a rotation, once the old one is refused', async () => {
  secret = kept('old');
  await accept('old');
  const client = open();
  await client.set('a', '1');
  // As the runbook has it: both are good, the secret changes, the old one goes.
  await accept('old', 'new');
  secret = kept('new');
  await killAll();
  await vi.waitFor(async () => expect(await client.get('a')).toBe('1'));
  expect(requests).toBe(1);
  await accept('new');
  await killAll();
  // What was fetched a moment ago is not asked for again.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6_000 });
  await vi.waitFor(async () => expect(await client.get('a')).toBe('1'), { timeout: 5_000 });
  expect(requests).toBe(2);
});

it('does not ask at every refusal', async () => {
  secret = kept('wrong');
  await accept('right');
  const client = open();
  for (let attempt = 0; attempt < 3; attempt++) {
    expect(describeThrown(await client.get('a').catch((error: unknown) => error))).toContain('WRONGPASS');
  }
  expect(requests).toBe(1);
});

it('connects as soon as the secret can be had, and says until then why not', async () => {
  secret = undefined;
  await accept('late');
  const client = open();
  const reason = describeThrown(await client.get('a').catch((error: unknown) => error));
  expect(reason).toContain('AccessDeniedException');
  secret = kept('late');
  await vi.waitFor(async () => await client.get('a'), { timeout: 5_000 });
});

it.each(['hidden', '{"username":"x","token":"hidden"}'])(
  'says that the secret is not what it should be, and not what it is: %s',
  async (text) => {
    secret = text;
    const reason = describeThrown(
      await open()
        .get('a')
        .catch((error: unknown) => error),
    );
    expect(reason).toContain('is not what it was made as');
    expect(reason).not.toContain('hidden');
  },
);
