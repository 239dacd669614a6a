import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket, connect as connectTcp } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectRedis } from '../../functions/lib/queue/connect.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { iamToken } from '../../functions/lib/queue/iam-token.ts';
import { describeThrown } from '../../functions/lib/telemetry/logger.ts';
import { testConfig } from '../support/queue-fixture.ts';
import { clientOptions, freePort, type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';

const env = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'session',
};
const USER = 'rota-default';
const NAME = 'rota-cache';
const MINUTE_MS = 60_000;

const clients: (Redis | Cluster)[] = [];
const open = (...args: Parameters<typeof connectRedis>) => {
  const client = connectRedis(...args);
  clients.push(client);
  return client;
};
const plain = (server: { port: number }, cluster = true) =>
  open({ url: `redis://127.0.0.1:${server.port}`, cluster, auth: 'none', name: '', secret: '' });

/** What a piece of work takes, in milliseconds, by a clock that the tests do not move. */
async function elapsedMs(work: Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work.catch(() => undefined);
  return performance.now() - begin;
}

afterEach(() => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.disconnect();
});

describe('a connection by TLS with a signed password', () => {
  let server: RunningRedis;
  let admin: Redis;
  const trusted = getCACertificates('default');

  const connection = (user = USER) =>
    ({ url: `rediss://${user}@localhost:${server.port}`, cluster: true, auth: 'iam', name: NAME, secret: '' }) as const;
  const acceptOnly = async (at: Date) => {
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' };
    const token = iamToken({ user: USER, name: NAME, region: 'eu-west-1', credentials, at });
    await admin.acl('SETUSER', USER, 'on', 'resetpass', `>${token}`, '~*', '+@all');
  };
  const killAll = () => admin.client('KILL', 'USER', USER);

  beforeAll(async () => {
    server = await startRedis({ cluster: true, secure: true });
    setDefaultCACertificates([...trusted, readFileSync(server.caFile ?? '', 'utf8')]);
    admin = new Redis(clientOptions(server));
  });
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    admin.disconnect();
    await server.stop();
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date() });
  });

  it('is made with a password signed at that moment', async () => {
    await acceptOnly(new Date());
    expect(await open(connection(), env).set('a', '1')).toBe('OK');
  });

  it('is refused with a password of another moment', async () => {
    await acceptOnly(new Date(Date.now() - MINUTE_MS));
    await expect(open(connection(), env).get('a')).rejects.toMatchObject({
      message: expect.stringContaining('has not answered'),
      cause: { message: expect.stringContaining('WRONGPASS') },
    });
  });

  it('tells in the log why it is refused, and not with what', async () => {
    await acceptOnly(new Date());
    const client = createQueueClient({ redis: open(connection(), env), queue: 'default', shard: 0 });
    await client.configure(testConfig());
    await acceptOnly(new Date(Date.now() - MINUTE_MS));
    await killAll();
    const reasons: string[] = [];
    // The first may be told of nothing but the lost connection.
    for (let attempt = 0; attempt < 3; attempt++) {
      reasons.push(describeThrown(await client.stats().catch((error: unknown) => error)));
    }
    for (const reason of reasons.slice(1)) {
      expect(reason).toContain('WRONGPASS');
      expect(reason).not.toContain('X-Amz');
    }
  });

  it('is refused when the certificate is not trusted', async () => {
    await acceptOnly(new Date());
    const all = getCACertificates('default');
    setDefaultCACertificates(trusted);
    try {
      await expect(open(connection(), env).get('a')).rejects.toThrow('has not answered');
    } finally {
      setDefaultCACertificates(all);
    }
  });

  it('comes back with a fresh password after the first one has run out', async () => {
    await acceptOnly(new Date());
    const client = open(connection(), env);
    await client.set('a', 'before');
    // Beyond the life of a token, and of a connection.
    for (const moment of [16, 20, 13 * 60]) {
      vi.setSystemTime(Date.now() + moment * MINUTE_MS);
      await acceptOnly(new Date());
      await killAll();
      expect(await client.set('a', String(moment))).toBe('OK');
    }
  });

  it('reads the slots again with a fresh password', async () => {
    await acceptOnly(new Date());
    const client = open(connection(), env);
    await client.get('a');
    vi.setSystemTime(Date.now() + 20 * MINUTE_MS);
    await acceptOnly(new Date());
    if (!(client instanceof Cluster)) throw new Error('expected a cluster client');
    const error = await new Promise((resolve) => client.refreshSlotsCache(resolve));
    expect(error).toBeUndefined();
  });

  it('is one for commands and one for waiting', async () => {
    await acceptOnly(new Date());
    const commands = open(connection(), env);
    const waiting = open(connection(), env);
    await commands.get('a');
    const woken = waiting.blpop('wake', 5);
    await vi.waitFor(async () => {
      const users = String(await admin.client('LIST')).match(new RegExp(`user=${USER}`, 'g'));
      expect(users).toHaveLength(2);
    });
    await commands.rpush('wake', '1');
    expect(await woken).toEqual(['wake', '1']);
  });

  it('names what is missing to sign with', () => {
    expect(() => open(connection(), { ...env, AWS_REGION: undefined })).toThrow('AWS_REGION: missing');
  });
});

describe.each([
  { kind: 'cluster', cluster: true },
  { kind: 'standalone', cluster: false },
])('a connection to a $kind Redis', ({ cluster }) => {
  let server: RunningRedis;
  beforeAll(async () => {
    server = await startRedis({ cluster });
  });
  afterAll(() => server.stop());

  it('answers within a second while Redis is away, and by itself when it is back', async () => {
    const client = plain(server, cluster);
    await client.set('a', '1');
    await server.stop();
    const failing = client.incr('never');
    expect(await elapsedMs(failing)).toBeLessThan(1_000);
    await expect(failing).rejects.toThrow(/closed|not ready|refused|has not answered/);
    await expect(client.incr('never')).rejects.toThrow(/has not answered within 700 ms/);

    server = await startRedis({ cluster, port: server.port });
    await vi.waitFor(() => client.set('b', '2'), { timeout: 5_000 });
    expect(await client.get('never')).toBeNull();
  });

  it('gives a Redis up that has stopped answering, and goes on when it answers again', async () => {
    const client = plain(server, cluster);
    await client.set('a', '1');
    process.kill(server.pid, 'SIGSTOP');
    try {
      expect(await elapsedMs(client.get('a'))).toBeLessThan(1_000);
      expect(await elapsedMs(client.get('a'))).toBeLessThan(1_000);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await vi.waitFor(async () => expect(await client.get('a')).toBe('1'), { timeout: 5_000 });
  });

  it('runs the next command at once after it was closed while the process was frozen', async () => {
    const client = plain(server, cluster);
    await client.set('a', '1');
    // Blocks this process as a freeze does, while another one closes the connection.
    const kill = `const s=require('net').connect(${server.port},'127.0.0.1',()=>s.write('CLIENT KILL TYPE normal\\r\\n'));s.on('data',()=>s.end()).on('close',()=>process.exit())`;
    spawnSync(process.execPath, ['-e', kill]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * MINUTE_MS });
    const answer = client.get('a');
    expect(await elapsedMs(answer)).toBeLessThan(500);
    expect(await answer).toBe('1');
  });

  it('runs a repeated command at once after it was closed in full work', async () => {
    const client = plain(server, cluster);
    const admin = new Redis(server.port);
    try {
      for (let round = 0; round < 20; round++) {
        await client.set('a', String(round));
        await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        const answer = client.get('a').catch(() => client.get('a'));
        expect(await elapsedMs(answer)).toBeLessThan(500);
        expect(await answer).toBe(String(round));
      }
    } finally {
      admin.disconnect();
    }
  });

  it('keeps the arguments of a command out of its errors', async () => {
    const client = plain(server, cluster);
    await client.set('a', 'text');
    const error = await client.call('lpush', 'a', 'payload').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining('WRONGTYPE') });
    expect(error).not.toHaveProperty('command');
  });
});

describe('a connection whose peer is gone without a word', () => {
  let server: RunningRedis;
  let proxy: Server;
  let proxyPort: number;
  const through: Socket[] = [];

  beforeAll(async () => {
    server = await startRedis({ cluster: false });
    proxyPort = await freePort();
    proxy = createServer((socket) => {
      const behind = connectTcp(server.port, '127.0.0.1');
      socket.pipe(behind).pipe(socket);
      for (const end of [socket, behind]) end.on('error', () => undefined);
      through.push(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(proxyPort, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const socket of through) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
    await server.stop();
  });

  it('is replaced before the next command, when it was idle', async () => {
    const client = plain({ port: proxyPort }, false);
    await client.set('a', '1');
    for (const socket of through) socket.unpipe().pause();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * MINUTE_MS });
    const answers = [client.get('a'), client.get('a')];
    expect(await elapsedMs(Promise.all(answers))).toBeLessThan(500);
    expect(await Promise.all(answers)).toEqual(['1', '1']);
  });
});
