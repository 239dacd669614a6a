import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Local, startLocal } from '../../infra/local/local.ts';
import { clientOptions, startRedis } from '../../infra/local/redis-server.ts';
import { request } from '../support/request.ts';

let local: Local;
const problems: string[] = [];

beforeAll(async () => {
  local = await startLocal({ onProblem: (line) => problems.push(line) });
});

afterAll(async () => {
  await local?.stop();
});

const post = async ({ apiUrl }: Local, tenant: string) =>
  await request(apiUrl, '/v1/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tenant, jobs: [{ type: 'echo', payload: null }] }),
  });

async function queueView({ apiUrl }: Local): Promise<unknown> {
  return (await request(apiUrl, '/v1/queue')).body;
}

test('takes a job over HTTP and runs it in the function that processes jobs', async () => {
  expect((await post(local, 'acme')).status).toBe(202);
  await vi.waitFor(async () => {
    expect(await queueView(local)).toMatchObject({ depth: 0, inFlight: 0 });
    expect(local.logs('process').filter((line) => line.startsWith('START'))).not.toHaveLength(0);
  }, 30_000);
  expect(problems).toEqual([]);
});

test('lets the functions in as the user of the stack, with the rights that the stack gives it', async () => {
  const admin = new Redis(clientOptions({ url: local.redisUrl, caFile: local.redisCaFile }));
  try {
    await queueView(local);
    // An environment may have been frozen before it could say who it is: it has asked for nothing yet.
    const clients = String(await admin.client('LIST'))
      .trim()
      .split('\n')
      .filter((line) => !line.includes(' cmd=NULL '));
    const users = new Set(clients.map((line) => /user=(\S+)/.exec(line)?.[1]));
    const [user = ''] = [...users].filter((name) => name !== 'admin');
    expect(users).toEqual(new Set(['admin', user]));
    expect(user).toMatch(/^rota-default-/);
    await expect(admin.call('ACL', 'DRYRUN', user, 'FLUSHALL')).resolves.toMatch(/no permissions/);
    await expect(admin.call('ACL', 'DRYRUN', user, 'GET', 'elsewhere')).resolves.toMatch(/no permissions/);
  } finally {
    admin.disconnect();
  }
});

test('fires a schedule on demand', async () => {
  const starts = () => local.logs('monitor').filter((line) => line.startsWith('START')).length;
  await vi.waitFor(() => expect(local.pendingEvents('monitor')).toBe(0), 30_000);
  const before = starts();
  local.fire('monitor');
  await vi.waitFor(() => expect(starts()).toBe(before + 1), 30_000);
  expect(() => local.fire('enqueue')).toThrow(/No schedule/);
});

test.each([
  { kind: 'standalone', cluster: false },
  { kind: 'cluster', cluster: true },
])('uses a $kind Redis that somebody else runs, and removes only the keys of its queue', async ({ cluster }) => {
  const redis = await startRedis({ cluster });
  const admin = new Redis(redis.url);
  try {
    const foreign = ['theirs', '{rota:other:0}:v1:x', '{rota:default:01}:v1:x'];
    for (const key of foreign) await admin.set(key, 'kept');
    await admin.set('{rota:default:0}:v1:tenant:stale', 'gone');
    const adopted = await startLocal({
      redisUrl: redis.url,
      schedules: false,
      onProblem: (line) => problems.push(line),
    });
    try {
      expect(await admin.exists('{rota:default:0}:v1:tenant:stale')).toBe(0);
      for (const key of foreign) expect(await admin.get(key)).toBe('kept');
      expect((await post(adopted, 'acme')).status).toBe(202);
    } finally {
      await adopted.stop();
    }
  } finally {
    admin.disconnect();
    await redis.stop();
  }
});

test('says that a Redis with a password cannot be used', async () => {
  await expect(startLocal({ redisUrl: 'redis://:secret@127.0.0.1:1' })).rejects.toThrow(/REDIS_URL has a password/);
});
