import verb from '../../../../lua/settle.lua';
import { assertNever, type JobResult } from '../../domain/outcomes.ts';
import { forVisits } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';
import { decodeOpened, type OpenedReply } from './open.ts';

type SettleReply =
  | { outcome: 'settled'; left: number; yield: boolean }
  | { outcome: 'ended' }
  | { outcome: 'continued'; opened: OpenedReply }
  | { outcome: 'stale' };

/** Longest error text kept with a job, in UTF-8 bytes. */
const MOST_ERROR_BYTES = 1024;
const LONGEST_MS = 2 ** 32 - 1;

export const settle = defineScript({
  name: 'settle',
  parts: [...forVisits, verb],
  allowOom: true,
  fields: ['leaseId', 'token', 'seed'],
  decode: (reply): SettleReply => {
    const outcome = text(reply[0]);
    if (outcome === 'settled') return { outcome, left: number(reply[1]), yield: number(reply[2]) === 1 };
    if (outcome === 'continued') return { outcome, opened: decodeOpened(reply) };
    if (outcome === 'ended' || outcome === 'stale') return { outcome };
    return unknownOutcome('settle', reply);
  },
});

/** A result as `settle` takes it: index, result, duration, retry delay, error text (lua/settle.lua). */
export function packResult(result: JobResult): Buffer {
  switch (result.result) {
    case 'done':
      return pack(result.index, 1, result.durationMs, 0, '');
    case 'failed':
      return pack(result.index, 2, result.durationMs, result.retryDelayMs, result.error);
    case 'dead':
      return pack(result.index, 3, result.durationMs, 0, result.error);
    case 'given_back':
      return pack(result.index, 4, 0, 0, '');
    case 'unfinished':
      return pack(result.index, 5, result.durationMs, 0, result.error);
    default:
      return assertNever(result);
  }
}

function pack(index: number, code: number, durationMs: number, retryDelayMs: number, error: string): Buffer {
  const reason = Buffer.from(error, 'utf8').subarray(0, MOST_ERROR_BYTES);
  const packed = Buffer.alloc(13 + reason.length);
  packed.writeUInt16BE(index, 0);
  packed.writeUInt8(code, 2);
  packed.writeUInt32BE(Math.min(LONGEST_MS, Math.max(0, Math.round(durationMs))), 3);
  packed.writeUIntBE(Math.max(0, Math.round(retryDelayMs)), 7, 6);
  reason.copy(packed, 13);
  return packed;
}
