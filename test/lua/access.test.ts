import { globSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { connectRedis } from '../../functions/lib/queue/connect.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { watcherOf } from '../../functions/lib/queue/watcher.ts';
import { accessString } from '../../infra/constructs/access-string.ts';
import { type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { claimOne } from '../support/queue.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';

const USER = 'rota-default';
const { prefix } = queueKeys('default', 0);

describe('the user that the stack makes', () => {
  let server: RunningRedis;
  let admin: Redis;
  let client: QueueClient;
  const asUser = () =>
    connectRedis({
      url: `redis://${USER}@127.0.0.1:${server.port}`,
      cluster: true,
      auth: 'none',
      name: '',
      secret: '',
    });

  /** Whether the user may run a command on these arguments; an answer other than `OK` says what it may not. */
  const dryRun = (...command: string[]) => admin.call('ACL', 'DRYRUN', USER, ...command);

  beforeAll(async () => {
    server = await startRedis({ cluster: true });
    admin = new Redis(server.port);
    await admin.call('ACL', 'SETUSER', USER, 'nopass', ...accessString('default').split(' '));
    client = createQueueClient({ redis: asUser(), connectBlocking: asUser, queue: 'default', shard: 0 });
  });
  afterAll(async () => {
    admin.disconnect();
    await client.close();
    await server.stop();
  });

  it('may do all that a job goes through', async () => {
    await client.configure(testConfig());
    await client.markDispatcher('take');
    expect(await client.enqueue({ tenant: 'acme', jobs: newJobs(2) })).toMatchObject({ outcome: 'accepted' });
    expect(await client.waitForWake(1_000)).toBe(true);
    const visit = await claimOne(client);
    expect(
      await client.settle(visit, [{ index: 1, result: 'done', durationMs: 1 }], { claimNext: false }),
    ).toMatchObject({ outcome: 'ended' });
    await client.tick();
    expect(await client.inspect('acme')).toMatchObject({ ready: 1 });
    expect(await client.stats()).toMatchObject({ ready: 1 });
    const watcher = watcherOf(client);
    expect(await watcher.tenantNames('0')).toEqual({ names: ['acme'], cursor: '0' });
    expect(await watcher.survey('0', 10)).toMatchObject({ tenants: [{ tenant: 'acme' }] });
    expect(await watcher.sweep(['acme'], true)).toMatchObject({ differences: [] });
    expect(await watcher.keepReading((await watcher.lastReading()).number, '{}')).toBe('kept');
    await client.purge('acme', 'everything');
    await client.unmarkDispatcher();
  });

  it('may run every command of the scripts', async () => {
    const scripts = globSync('lua/**/*.lua').map((file) => readFileSync(file, 'utf8'));
    const called = scripts.flatMap((source) => [...source.matchAll(/redis\.p?call\(\s*['"](\w+)['"]/g)]);
    const commands = [...new Set(called.map(([, command = '']) => command))];
    expect(commands.length).toBeGreaterThan(20);
    const refused: unknown[] = [];
    for (const command of commands) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const [[, arity]] = (await admin.call('COMMAND', 'INFO', command)) as [[string, number]];
      const answer = await dryRun(command, ...Array<string>(Math.abs(arity) - 1).fill(`${prefix}key`));
      if (answer !== 'OK') refused.push(answer);
    }
    expect(refused).toEqual([]);
  });

  it.each([
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['KEYS', '*'],
    ['CONFIG', 'GET', '*'],
    ['ACL', 'LIST'],
    ['DEBUG', 'SLEEP', '1'],
    ['CLUSTER', 'RESET'],
    ['SCRIPT', 'FLUSH'],
    ['CLIENT', 'LIST'],
    ['PUBLISH', 'channel', 'message'],
    ['GET', '{rota:other:0}:v1:config'],
    ['SET', 'key', 'value'],
  ])('may not run %s %s', async (...command) => {
    expect(await dryRun(...command)).toMatch(/no permissions|has no permissions/);
  });
});
