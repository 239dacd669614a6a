import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { jobId } from '../../functions/lib/queue/record.ts';
import type { RedisConnection } from '../../functions/lib/queue/script.ts';
import { type PeekedClock, type PeekedTenant, unpackClock, unpackTenant } from './peek.ts';

/** All that Redis holds of one queue, read in one step and unpacked (lua/README.md). Times in ms. */
export interface QueueState {
  readonly clock: PeekedClock;
  readonly tenants: Map<string, PeekedTenant>;
  readonly ready: Map<string, StoredJob[]>;
  /** With the score they are filed under, as `delayed`. */
  readonly returned: Map<string, ScoredJob[]>;
  readonly delayed: Map<string, ScoredJob[]>;
  /** Newest first. */
  readonly dead: Map<string, StoredJob[]>;
  /** By lease id, whichever of the two indexes names it. */
  readonly leases: Map<string, StoredLease>;
  readonly opening: Map<string, number>;
  readonly visits: Map<string, number>;
  /** In order: the head is visited next. */
  readonly rotation: readonly { tenant: string; position: number; turn: number }[];
  readonly due: Map<string, number>;
  readonly held: Map<string, number>;
  readonly depths: Map<string, number>;
  readonly oldest: Map<string, number>;
  readonly idle: Map<string, number>;
  /** Tenants that have idempotency keys, and the index over all of those: field, NUL, tenant. */
  readonly once: Map<string, string[]>;
  readonly onces: Map<string, number>;
  readonly wakes: number;
  readonly paused: boolean;
  /** Names after the prefix, of whatever kind. */
  readonly keys: readonly string[];
  /** Those with a time to live. */
  readonly mortal: readonly string[];
}

export interface StoredJob {
  readonly id: string;
  readonly alone: boolean;
  readonly retry: boolean;
  readonly attempts: number;
  readonly sequence: number;
  readonly readySinceMs: number;
  readonly enqueuedAtMs: number;
  readonly cost: number;
  readonly bodyBytes: number;
}

type ScoredJob = StoredJob & { readonly score: number };

interface StoredLease {
  readonly visit: number;
  readonly lanes: number;
  readonly left: number;
  readonly epoch: number;
  readonly weight: number;
  readonly claimedAtMs: number;
  readonly token: string;
  readonly nonce: string;
  readonly tenant: string;
  /** By index; null = settled. */
  readonly jobs: (StoredJob | null)[];
}

// SCAN, since a connection of the queue's own user may not use KEYS.
const READ = `
local reply, cursor = {}, '0'
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', KEYS[1] .. '*', 'COUNT', 10000)
  cursor = page[1]
  for _, k in ipairs(page[2]) do
    local kind = redis.call('TYPE', k).ok
    local held
    if kind == 'string' then held = { redis.call('GET', k) }
    elseif kind == 'hash' then held = redis.call('HGETALL', k)
    elseif kind == 'list' then held = redis.call('LRANGE', k, 0, -1)
    elseif kind == 'zset' then held = redis.call('ZRANGE', k, 0, -1, 'WITHSCORES')
    end
    reply[#reply + 1] = { string.sub(k, #KEYS[1] + 1), redis.call('PTTL', k), held }
  end
until cursor == '0'
return reply`;

type RawKey = [name: Buffer, ttl: number, held: Buffer[]];

/** Reads a queue, whole. For small queues, or once: it is one blocking call. */
export async function readQueue(redis: RedisConnection, queue: string, shard = 0): Promise<QueueState> {
  const { prefix } = queueKeys(queue, shard);
  const reply = await redis.callBuffer('eval', READ, 1, prefix);
  if (!Array.isArray(reply)) throw new TypeError(`reading queue ${queue} gave ${String(reply)}`);
  return decode(reply, shard);
}

function decode(raw: RawKey[], shard: number): QueueState {
  const byKind = new Map<string, Map<string, Buffer[]>>();
  const named = raw.map(([name, ttl, held]) => {
    const key = name.toString('utf8');
    const cut = key.indexOf(':');
    const kind = cut < 0 ? key : key.slice(0, cut);
    if (!byKind.has(kind)) byKind.set(kind, new Map());
    byKind.get(kind)?.set(cut < 0 ? '' : key.slice(cut + 1), held);
    return { key, ttl };
  });
  const each = <T>(kind: string, unpack: (held: Buffer[]) => T) =>
    new Map([...(byKind.get(kind) ?? [])].map(([name, held]) => [name, unpack(held)]));
  const only = (kind: string) => byKind.get(kind)?.get('') ?? [];
  const jobs = (held: Buffer[]) => held.map((record) => unpackJob(record, shard));
  const scoredJobs = (held: Buffer[]) => pairs(held).map(([record, score]) => ({ ...unpackJob(record, shard), score }));
  const scores = (kind: string) => new Map(pairs(only(kind)).map(([name, score]) => [name.toString('utf8'), score]));
  return {
    clock: unpackClock(only('clock')[0] ?? null),
    tenants: each('tenant', ([packed]) => unpackTenant(packed ?? Buffer.alloc(0))),
    ready: each('ready', jobs),
    returned: each('returned', scoredJobs),
    delayed: each('delayed', scoredJobs),
    dead: each('dead', (held) => held.map((packed) => unpackJob(packed.subarray(8 + packed.readUInt16BE(6)), shard))),
    leases: each('visit', ([lease, ...slots]) => unpackLease(lease ?? Buffer.alloc(0), slots, shard)),
    opening: scores('opening'),
    visits: scores('visits'),
    rotation: pairs(only('rotation')).map(([member, turn]) => ({
      tenant: member.toString('utf8', 15),
      position: Number(member.toString('latin1', 0, 15)),
      turn,
    })),
    due: scores('due'),
    held: scores('held'),
    depths: scores('depths'),
    oldest: scores('oldest'),
    idle: scores('idle'),
    once: each('once', (held) => held.filter((_, index) => index % 2 === 0).map((field) => field.toString('utf8'))),
    onces: scores('onces'),
    wakes: only('wake').length,
    paused: pairsOf(only('config')).some(
      ([field, value]) => field.equals(Buffer.from('paused')) && String(value) === '1',
    ),
    keys: named.map(({ key }) => key),
    mortal: named.filter(({ ttl }) => ttl >= 0).map(({ key }) => key),
  };
}

function pairsOf(flat: Buffer[]): [Buffer, Buffer][] {
  return flat.flatMap((item, index): [Buffer, Buffer][] => {
    const next = flat[index + 1];
    return index % 2 === 0 && next ? [[item, next]] : [];
  });
}

function pairs(flat: Buffer[]): [Buffer, number][] {
  return pairsOf(flat).map(([member, score]) => [member, Number(score.toString('latin1'))]);
}

function unpackJob(record: Buffer, shard: number): StoredJob {
  const flags = record.readUInt8(0);
  return {
    id: jobId(shard, record.subarray(20, 32)),
    alone: (flags & 1) !== 0,
    retry: (flags & 2) !== 0,
    attempts: record.readUInt8(1),
    sequence: record.readUIntBE(2, 6),
    readySinceMs: record.readUIntBE(8, 6),
    enqueuedAtMs: record.readUIntBE(14, 6),
    cost: record.readDoubleBE(33),
    bodyBytes: record.length - 44,
  };
}

/** LEASE_FORMAT of lua/lib/lease.lua. */
function unpackLease(packed: Buffer, slots: Buffer[], shard: number): StoredLease {
  let at = 30;
  const word = (size: 1 | 2) => {
    const from = at + size;
    at = from + packed.readUIntBE(at, size);
    return packed.toString('utf8', from, at);
  };
  const token = word(1);
  // The token of the visit before, for a settle whose reply was lost.
  word(1);
  return {
    visit: packed.readUInt16BE(0),
    lanes: packed.readUInt16BE(2),
    left: packed.readUInt16BE(6),
    epoch: packed.readUIntBE(10, 6),
    weight: packed.readDoubleBE(16),
    claimedAtMs: packed.readUIntBE(24, 6),
    token,
    nonce: word(1),
    tenant: word(2),
    jobs: slots.map((record) => (record.length === 0 ? null : unpackJob(record, shard))),
  };
}
