import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions as ClientOptions } from 'ioredis';
import { ADMIN, ownIdentity } from './certificate.ts';
import { killGuarded, removeAtEnd, spawnGuarded } from './children.ts';
import { messageOf } from './errors.ts';
import { findRedis } from './redis-binary.ts';

/** Where fetched and generated things are kept between runs. */
export const CACHE_FOLDER = join(import.meta.dirname, '../../.cache');

export interface RedisOptions {
  /** A cluster of one node that holds every slot, as a cluster-mode ElastiCache of one shard; else standalone. */
  cluster: boolean;
  /** By TLS only, and for its user `admin` only until others are made; else plain and open to everybody. */
  secure?: boolean;
  /** Further `redis-server` arguments, such as `['--maxmemory', '20mb']`. */
  args?: string[];
  /** TCP port; a free one when left out. A given port makes a restart at the same address possible. */
  port?: number;
  onProgress?: (line: string) => void;
}

export interface RunningRedis {
  /** `redis://127.0.0.1:<port>`; of a secure one `rediss://`, with the name and password of its admin. */
  url: string;
  /** File of the certificate to trust, of a secure one. */
  caFile?: string;
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
  const identity = options.secure ? await ownIdentity() : undefined;
  const args = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  if (identity) {
    const { certificateFile, keyFile, password } = identity;
    // With the bus in the clear a cluster would name the port of the plain protocol, of which there is none.
    args.push('--port', '0', '--tls-port', String(port), '--tls-cluster', 'yes', '--tls-auth-clients', 'no');
    args.push('--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certificateFile);
    args.push('--user', 'default', 'off', '--user', ADMIN, 'on', `>${password}`, '~*', '&*', '+@all');
  } else {
    args.push('--port', String(port));
  }
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
  const admin: ClientOptions = {
    host: '127.0.0.1',
    port,
    ...(identity && { username: ADMIN, password: identity.password, tls: { ca: identity.certificate } }),
  };
  try {
    await Promise.race([makeReady(admin, options.cluster), exited]);
  } catch (error) {
    await stop();
    throw error;
  }
  exited.catch(() => undefined);
  const url = identity ? `rediss://${ADMIN}:${identity.password}@127.0.0.1:${port}` : `redis://127.0.0.1:${port}`;
  return { url, ...(identity && { caFile: identity.certificateFile }), port, pid: child.pid ?? 0, stop };
}

async function makeReady(admin: ClientOptions, cluster: boolean): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  const client = new Redis({ ...admin, lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => undefined);
  try {
    await client.connect().catch(() => undefined);
    await client.ping();
    if (!cluster) return;
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
      if (Date.now() > deadline)
        throw new Error(`The Redis cluster on port ${admin.port} was not ready in ${READY_WITHIN_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    client.disconnect();
  }
}

/** How a client of ioredis connects to that URL, trusting the certificate in that file. */
export function clientOptions({ url, caFile }: Pick<RunningRedis, 'url' | 'caFile'>) {
  const { protocol, hostname, port, username, password } = new URL(url);
  return {
    host: hostname,
    port: Number(port || 6379),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(protocol === 'rediss:' && { tls: caFile === undefined ? {} : { ca: readFileSync(caFile) } }),
  };
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
