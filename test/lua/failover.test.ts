import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { connectRedis } from '../../functions/lib/queue/connect.ts';
import { QueueUnavailable } from '../../functions/lib/queue/errors.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { freePort, type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { newJobs, testConfig } from '../support/queue-fixture.ts';

const soon = { timeout: 20_000, interval: 20 };

/** A node that is in no cluster yet and holds no slot. */
const startEmptyNode = async () =>
  startRedis({
    cluster: false,
    args: [
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(await freePort()),
      '--cluster-announce-ip',
      '127.0.0.1',
    ],
  });

/** Waits until the node says so of its part in the replication. */
const until = (node: Redis, said: string) =>
  vi.waitFor(async () => {
    const info = await node.info('replication');
    if (!info.includes(said)) throw new Error(`not ${said}: ${info}`);
  }, soon);

describe('when the primary of the cache changes', () => {
  let first: RunningRedis;
  let second: RunningRedis;
  let firstNode: Redis;
  let secondNode: Redis;
  let client: QueueClient;
  let admitted = 0;
  const failures: unknown[] = [];

  /** One enqueue after the other, until stopped. */
  async function produce(isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i++) {
      await client.enqueue({ tenant: `t${i % 5}`, jobs: newJobs(1) }).then(
        () => admitted++,
        (error: unknown) => failures.push(error),
      );
    }
  }

  beforeAll(async () => {
    first = await startRedis({ cluster: true });
    second = await startEmptyNode();
    [firstNode, secondNode] = [new Redis(first.port), new Redis(second.port)];
    for (const node of [firstNode, secondNode]) node.on('error', () => undefined);
    const [, busPort] = await firstNode.config('GET', 'cluster-port');
    await secondNode.cluster('MEET', '127.0.0.1', first.port, Number(busPort));
    const id = await firstNode.cluster('MYID');
    await vi.waitFor(() => secondNode.cluster('REPLICATE', id), soon);
    await until(secondNode, 'master_link_status:up');
    const redis = connectRedis({
      url: `redis://127.0.0.1:${first.port}`,
      cluster: true,
      auth: 'none',
      name: '',
      secret: '',
    });
    client = createQueueClient({ redis, queue: 'default', shard: 0 });
    await client.configure(testConfig());
  });
  afterAll(async () => {
    await client.close();
    for (const node of [firstNode, secondNode]) node.disconnect();
    await Promise.all([first.stop(), second.stop()]);
  });

  it('goes on with the new one, having lost nothing that it was told was admitted', async () => {
    let over = false;
    const producing = produce(() => over);
    await vi.waitFor(() => expect(admitted).toBeGreaterThan(100), soon);
    await secondNode.cluster('FAILOVER');
    await until(secondNode, 'role:master');
    const before = admitted;
    await vi.waitFor(() => expect(admitted).toBeGreaterThan(before + 100), soon);
    over = true;
    await producing;
    for (const failure of failures) expect(failure).toBeInstanceOf(QueueUnavailable);
    expect((await client.stats()).enqueued).toBeGreaterThanOrEqual(admitted);
  });

  it('goes on when the old one has died, and says for a bounded time that it is away', async () => {
    const before = admitted;
    let over = false;
    const producing = produce(() => over);
    await vi.waitFor(() => expect(admitted).toBeGreaterThan(before + 50), soon);
    // The second one is the primary by now.
    process.kill(second.pid, 'SIGKILL');
    // Of one primary there is no majority left to elect another; on AWS the service does this.
    await vi.waitFor(() => firstNode.cluster('FAILOVER', 'TAKEOVER'), soon);
    await until(firstNode, 'role:master');
    const after = admitted;
    await vi.waitFor(() => expect(admitted).toBeGreaterThan(after + 50), soon);
    over = true;
    await producing;
    for (const failure of failures) expect(failure).toBeInstanceOf(QueueUnavailable);
  });
});
