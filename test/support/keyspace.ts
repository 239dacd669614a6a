import type { TestQueue } from './queue.ts';

/** Every key of the queue that Redis holds, sorted. */
export async function keysOf({ redis, keys }: Pick<TestQueue, 'redis' | 'keys'>): Promise<string[]> {
  const found = new Set<string>();
  for (const node of redis.nodes('master')) {
    let cursor = '0';
    do {
      const [next, page] = await node.scan(cursor, 'COUNT', 10_000);
      // Not MATCH: the prefix would have to be escaped, and so would the odd ids that some tests use.
      for (const key of page) if (key.startsWith(keys.prefix)) found.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return [...found].toSorted();
}

/** Every key of the queue with its value: two equal ones mean that nothing was written between. */
export async function snapshot(queue: Pick<TestQueue, 'redis' | 'keys'>): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const key of await keysOf(queue)) {
    if ((await queue.redis.type(key)) === 'hash') {
      // The order of a hash's fields, and so its dump, changes by itself while Redis grows its table.
      const fields = Object.entries(await queue.redis.hgetallBuffer(key));
      const sorted = fields.map(([field, value]) => `${field}=${value.toString('hex')}`).toSorted();
      values[key] = sorted.join();
    } else values[key] = (await queue.redis.dumpBuffer(key))?.toString('hex') ?? '';
  }
  return values;
}

export interface RotationEntry {
  readonly tenant: string;
  readonly turn: number;
  /** The sequence of its entry or last visit, which decides among equal turns. */
  readonly sequence: number;
}

/** The tenants of the rotation in the order in which they will be visited. */
export async function rotationOf({ redis, keys }: Pick<TestQueue, 'redis' | 'keys'>): Promise<RotationEntry[]> {
  const members = await redis.zrange(keys.rotation, 0, '-1');
  return Promise.all(
    members.map(async (member) => ({
      tenant: member.slice(15),
      turn: Number(await redis.zscore(keys.rotation, member)),
      sequence: Number(member.slice(0, 15)),
    })),
  );
}
