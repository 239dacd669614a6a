import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { killGuarded, removeAtEnd, spawnGuarded } from './children.ts';
import { messageOf } from './errors.ts';
import { findRedis } from './redis-binary.ts';

/** Where fetched and generated things are kept between runs. */
export const CACHE_FOLDER = join(import.meta.dirname, '../../.cache');

export interface RedisOptions {
  /** A cluster of one node that holds every slot, as a cluster-mode ElastiCache of one shard; else standalone. */
  cluster: boolean;
  /** Further `redis-server` arguments, such as `['--maxmemory', '20mb']`. */
  args?: string[];
  /** TCP port; a free one when left out. A given port makes a restart at the same address possible. */
  port?: number;
  onProgress?: (line: string) => void;
}

export interface RunningRedis {
  /** `redis://127.0.0.1:<port>` */
  url: string;
  port: number;
  pid: number;
  /** Ends the server at once and waits until it is gone. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 15_000;
const PORT_TRIES = 5;

/**
 * Starts an empty Redis server of its own on 127.0.0.1, without persistence, that ends with this process. Ready (and as
 * a cluster: `cluster_state:ok`, which takes the server about 2 s) when the promise resolves.
 *
 * @throws Error that says what to install when there is no server to be had, or what the server printed when it fails.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const binary = await findRedis(join(CACHE_FOLDER, 'redis'), options.onProgress ?? (() => undefined));
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    try {
      return await startOn(port, binary.command, binary.env, options);
    } catch (error) {
      // Another process can take the free port before the server binds it.
      const taken = /already in use/i.test(messageOf(error));
      if (!taken || options.port !== undefined || attempt === PORT_TRIES) throw error;
    }
  }
}

async function startOn(
  port: number,
  command: string,
  env: Record<string, string>,
  options: RedisOptions,
): Promise<RunningRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'rota-redis-'));
  removeAtEnd(folder);
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  if (options.cluster) {
    // The default bus port (port + 10000) does not exist for high ports and may be taken for low ones.
    args.push('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
    args.push('--cluster-announce-ip', '127.0.0.1');
  }
  const child = spawnGuarded(command, [...args, ...(options.args ?? [])], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-4_000);
    });
  }
  const exited = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended (code ${code}):\n${printed.trim()}`)));
  });
  const stop = async () => {
    await killGuarded(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([makeReady(port, options.cluster), exited]);
  } catch (error) {
    await stop();
    throw error;
  }
  exited.catch(() => undefined);
  return { url: `redis://127.0.0.1:${port}`, port, pid: child.pid ?? 0, stop };
}

async function makeReady(port: number, cluster: boolean): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => undefined);
  try {
    await client.connect().catch(() => undefined);
    await client.ping();
    if (!cluster) return;
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
      if (Date.now() > deadline)
        throw new Error(`The Redis cluster on port ${port} was not ready in ${READY_WITHIN_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    client.disconnect();
  }
}

/** A TCP port on 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('No TCP port is free on 127.0.0.1'));
      });
    });
  });
}
