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

/** Behind the words; the release before does not write them. */
const MORE = [
  ['obytes', 'double'],
  ['orate', 'double'],
  ['oburst', 'double'],
  ['limited', 1],
  ['level', 'double'],
  ['levelAt', 6],
] as const;

export type PeekedClock = Record<(typeof CLOCK)[number], number>;
export type PeekedTenant = Record<(typeof TENANT | typeof MORE)[number][0], number> & { claim: string; plan: string };

/** The clock and the totals; zeros when there is none yet. */
export function unpackClock(packed: Buffer | null): PeekedClock {
  // The keys are exactly those of CLOCK, which fromEntries forgets.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(CLOCK.map((name, i) => [name, packed?.readDoubleBE(8 * i) ?? 0])) as PeekedClock;
}

export function unpackTenant(packed: Buffer): PeekedTenant {
  let at = 0;
  const take = ([name, size]: readonly [string, number | 'double']) => {
    const value = size === 'double' ? packed.readDoubleBE(at) : packed.readUIntBE(at, size);
    at += size === 'double' ? 8 : size;
    return [name, value] as const;
  };
  const numbers = TENANT.map(take);
  const word = () => {
    const length = packed.readUInt8(at);
    at += 1 + length;
    return packed.toString('utf8', at - length, at);
  };
  const words = { claim: word(), plan: word() };
  const more =
    at < packed.length ? MORE.map(take) : MORE.map(([name]) => [name, name.startsWith('o') ? -1 : 0] as const);
  // As above, those of TENANT and MORE.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const fields = Object.fromEntries([...numbers, ...more]) as Omit<PeekedTenant, 'claim' | 'plan'>;
  return { ...fields, ...words, held: fields.held + 4 * fields.limited };
}

export async function peekClock(redis: RedisConnection, key: string): Promise<PeekedClock> {
  return unpackClock(await redis.getBuffer(key));
}

/** Null when Redis has nothing of the tenant. */
export async function peekTenant(redis: RedisConnection, key: string): Promise<PeekedTenant | null> {
  const packed = await redis.getBuffer(key);
  return packed === null ? null : unpackTenant(packed);
}
