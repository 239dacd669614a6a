import { Cluster, type ClusterOptions, Redis } from 'ioredis';
import type { Runtime } from '../config/env.ts';
import { guard } from './guard.ts';
import { type Environment, type Password, passwordOf } from './password.ts';

type NodeOptions = NonNullable<ClusterOptions['redisOptions']>;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Longest wait between two attempts to connect: a Redis that is back is found within half a second. */
const LONGEST_PAUSE_MS = 500;

/** From 20 ms up, with jitter, so that a thousand environments do not come back in one instant. */
const pause = (attempt: number) => Math.min(20 * 2 ** (attempt - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);

const common: NodeOptions = {
  // Connecting begins below, once the password is in place.
  lazyConnect: true,
  // Longer than a command may wait: a handshake on a third of a processor must still come to its end some time.
  connectTimeout: 2_000,
  // Bounds what is sent to get ready, by a server that accepts and then says nothing. The guard bounds all the rest.
  commandTimeout: 2_000,
  // How long a closing socket may wait for its peer. The default of 2 s is how long a dead one would delay reconnecting.
  disconnectTimeout: 50,
  // Well within the 350 s after which AWS forgets an idle connection; a frozen environment sends none anyway.
  keepAlive: 30_000,
  noDelay: true,
};

/**
 * ioredis has no credential provider, but reads `options.password` at every connect of a node. A value would be too old
 * after 15 minutes: at a reconnect, and at the refresh of the slots, which copies the options to a connection of its own.
 */
function keepPasswordFresh({ options }: Redis, password: Password | undefined): void {
  if (!password) return;
  Object.defineProperty(options, 'password', {
    get: () => password.current(),
    enumerable: true,
    configurable: true,
  });
}

/** Connects once there is a password to do it with, and has another one asked for when Redis refuses it. */
async function connectWith(client: Redis | Cluster, password: Password | undefined): Promise<void> {
  const heed = (error: Error) => {
    if (/^(WRONGPASS|NOAUTH)/.test(error.message)) password?.refused();
  };
  client.on('error', heed);
  client.on('node error', heed);
  // An environment may be frozen as soon as it has started: no turn of the loop is lost where there is nothing to wait for.
  if (password?.known) {
    await password.known((error) => {
      if (client.status === 'end') throw error;
      client.emit('error', error);
    });
  }
  await client.connect();
}

/**
 * Connects to the queue's Redis and stays connected: one connection, made anew whenever it breaks, with a password of
 * its own each time. Commands wait for it for a bounded time (see guard); nothing is thrown here when Redis is away.
 *
 * @throws Error when the environment lacks the credentials that the connection is to be signed with.
 */
export function connectRedis(connection: Runtime['redis'], env: Environment = process.env): Redis | Cluster {
  const { protocol, hostname, port, username } = new URL(connection.url);
  const node = { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) };
  const password = passwordOf(connection, username, env);
  // An empty object turns TLS on, with Node's own certificates and the check of the host's name.
  const options = { ...common, username: username || undefined, tls: protocol === 'rediss:' ? {} : undefined };
  const client = connection.cluster
    ? clusterClient(node, options, password)
    : standaloneClient(node, options, password);
  guard(client);
  // A failure is told by the commands that wait for the connection; attempts go on meanwhile.
  connectWith(client, password).catch(() => undefined);
  return client;
}

function clusterClient(node: Address, redisOptions: NodeOptions, password: Password | undefined): Cluster {
  const cluster = new Cluster([node], {
    redisOptions,
    lazyConnect: true,
    // Certificates are for names: resolved here, the name would be lost before it could be checked.
    dnsLookup: (address, callback) => callback(null, address),
    // Its queue has no bound and no time limit, and what it holds would run after its caller has been told of a failure.
    enableOfflineQueue: false,
    clusterRetryStrategy: pause,
    // After a lost connection the node is asked again for its slots, and a command is sent anew, after this time.
    retryDelayOnFailover: 50,
    // This answer is also how a durable cache refuses writes while its log lags. Tried again in here it would be told as a
    // server that does not answer, after two timeouts, and the sound connection given up each time.
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: 2_000,
  });
  cluster.on('+node', (redis: Redis) => keepPasswordFresh(redis, password));
  return cluster;
}

function standaloneClient(node: Address, options: NodeOptions, password: Password | undefined): Redis {
  const redis = new Redis({
    ...options,
    ...node,
    retryStrategy: pause,
    // When the connection breaks, what was under way or came too late fails at once, and the queue of the client is empty
    // again: the caller knows whether it may be repeated.
    maxRetriesPerRequest: 0,
  });
  keepPasswordFresh(redis, password);
  return redis;
}
