import type { RedisConnection } from '../../functions/lib/queue/script.ts';

/** Looks into the packed strings of lua/README.md, for tests that hold what is stored against what was answered. */

const CLOCK = [
  'v',
  'epoch',
  'seq',
  'servable',
  'weights',
  'ready',
  'delayed',
  'flight',
  'dead',
  'bytes',
  'enqueued',
  'served',
  'done',
  'failed',
  'died',
  'dropped',
  'late',
  'crashed',
  'lapsed',
  'purged',
  'r1t',
  'r1s',
  'r2t',
  'r2s',
] as const;

const TENANT = [
  ['ready', 4],
  ['back', 4],
  ['delayed', 4],
  ['dead', 4],
  ['flight', 4],
  ['lanes', 4],
  ['held', 1],
  ['heldUntil', 6],
  ['turn', 'double'],
  ['epoch', 6],
  ['pos', 6],
  ['weight', 'double'],
  ['served', 6],
  ['done', 6],
  ['failed', 6],
  ['enqueued', 6],
  ['ms', 6],
  ['bytes', 6],
  ['idle', 6],
  ['refused', 2],
  ['r1t', 6],
  ['r1s', 6],
  ['r2t', 6],
  ['r2s', 6],
  ['p95', 'double'],
  ['mean', 'double'],
  ['oweight', 'double'],
  ['odepth', 'double'],
  ['oconc', 'double'],
] as const;

export type PeekedClock = Record<(typeof CLOCK)[number], number>;
export type PeekedTenant = Record<(typeof TENANT)[number][0], number> & { claim: string; plan: string };

/** The clock and the totals; zeros when there is none yet. */
export function unpackClock(packed: Buffer | null): PeekedClock {
  // The keys are exactly those of CLOCK, which fromEntries forgets.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(CLOCK.map((name, i) => [name, packed?.readDoubleBE(8 * i) ?? 0])) as PeekedClock;
}

export function unpackTenant(packed: Buffer): PeekedTenant {
  let at = 0;
  const numbers = TENANT.map(([name, size]) => {
    const value = size === 'double' ? packed.readDoubleBE(at) : packed.readUIntBE(at, size);
    at += size === 'double' ? 8 : size;
    return [name, value];
  });
  const word = () => {
    const length = packed.readUInt8(at);
    at += 1 + length;
    return packed.toString('utf8', at - length, at);
  };
  // As above, those of TENANT.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...(Object.fromEntries(numbers) as PeekedTenant), claim: word(), plan: word() };
}

export async function peekClock(redis: RedisConnection, key: string): Promise<PeekedClock> {
  return unpackClock(await redis.getBuffer(key));
}

/** Null when Redis has nothing of the tenant. */
export async function peekTenant(redis: RedisConnection, key: string): Promise<PeekedTenant | null> {
  const packed = await redis.getBuffer(key);
  return packed === null ? null : unpackTenant(packed);
}
