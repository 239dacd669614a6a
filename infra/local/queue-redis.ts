import { Cluster, Redis } from 'ioredis';
import { messageOf } from './errors.ts';
import { clientOptions, type RunningRedis } from './redis-server.ts';
import type { Secrets } from './secrets.ts';
import { isObject, type JsonObject, type Template, textOf } from './template.ts';

/** How the functions reach the Redis of a run. */
export interface QueueRedis {
  /** Of a given one without a user, of the runner's own with its admin. */
  url: string;
  /** File of the certificate to trust, of the runner's own. */
  caFile?: string;
  cluster: boolean;
}

/**
 * Gives the runner's own server what the template gives its cache: the users with their access strings and the settings of
 * the parameter group. Where the password is a token of IAM, none is asked for: that it was signed just now, no Redis can check.
 */
export async function applyTemplate(redis: RunningRedis, template: Template, secrets: Secrets): Promise<void> {
  const client = new Redis({ ...clientOptions(redis), lazyConnect: true });
  try {
    await client.connect();
    for (const { id, properties } of template.resources('AWS::ElastiCache::User')) {
      const user = textOf(properties.UserName);
      const rules = textOf(properties.AccessString).split(/\s+/).filter(Boolean);
      await client
        .call('ACL', 'SETUSER', user, 'reset', ...passwordsOf(properties, secrets), ...rules)
        .catch((error: unknown) => {
          throw new Error(`User ${id}: Redis refuses its access string: ${messageOf(error)}`);
        });
    }
    for (const { properties } of template.resources('AWS::ElastiCache::ParameterGroup')) {
      const parameters = isObject(properties.Properties) ? properties.Properties : {};
      for (const [name, value] of Object.entries(parameters)) {
        // Decided at the start of the server.
        if (name !== 'cluster-enabled') await client.config('SET', name, textOf(value));
      }
    }
  } finally {
    client.disconnect();
  }
}

function passwordsOf({ AuthenticationMode: mode }: JsonObject, secrets: Secrets): string[] {
  const passwords: unknown = isObject(mode) && mode.Type === 'password' ? mode.Passwords : undefined;
  return Array.isArray(passwords) ? passwords.map((password) => `>${secrets.resolve(textOf(password))}`) : ['nopass'];
}

/**
 * Looks at a given URL before anything is started for it.
 *
 * @throws Error that says what a Redis' URL looks like, or that this one has a password.
 */
export function checkRedisUrl(url: string): void {
  const parsed = URL.parse(url);
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new Error(`REDIS_URL is ${JSON.stringify(url)}; it must be redis://<host>:<port> or rediss://<host>:<port>`);
  }
  if (parsed.password !== '') {
    throw new Error(
      'REDIS_URL has a password, and the functions connect without one: give a Redis or a user that needs none',
    );
  }
}

/**
 * Asks a Redis that somebody else runs whether it is a cluster, and empties one queue in it (its keys and nothing else).
 *
 * @throws Error naming the URL and the reason when it cannot be reached.
 */
export async function adoptRedis(url: string, keyPrefix: string): Promise<QueueRedis> {
  let reason: unknown;
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null });
  // What `connect` is rejected with says no more than that the connection is closed.
  client.on('error', (error) => (reason = error));
  try {
    await client.connect();
    const cluster = (await client.info('cluster')).includes('cluster_enabled:1');
    if (cluster) await emptyCluster(url, keyPrefix);
    else await removeKeys(client, keyPrefix);
    return { url, cluster };
  } catch (error) {
    throw new Error(`REDIS_URL ${url} cannot be used: ${messageOf(reason ?? error)}`, { cause: error });
  } finally {
    client.disconnect();
  }
}

async function emptyCluster(url: string, keyPrefix: string): Promise<void> {
  const { host, port, ...redisOptions } = clientOptions({ url });
  const cluster = new Cluster([{ host, port }], { lazyConnect: true, redisOptions });
  try {
    await cluster.connect();
    for (const node of cluster.nodes('master')) await removeKeys(node, keyPrefix);
  } finally {
    cluster.disconnect();
  }
}

async function removeKeys(client: Redis, keyPrefix: string): Promise<void> {
  // The braces of the hash tag mean nothing in a pattern; brackets, stars and question marks cannot be in a queue name.
  for await (const keys of client.scanStream({ match: `${keyPrefix}*`, count: 1_000 })) {
    if (Array.isArray(keys) && keys.length > 0) await client.unlink(...keys.map(String));
  }
}
