import verb from '../../../../lua/extend.lua';
import type { ExtendOutcome } from '../../domain/outcomes.ts';
import { forVisits } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

export const extend = defineScript({
  name: 'extend',
  parts: [...forVisits, verb],
  allowOom: true,
  fields: ['leaseId', 'token'],
  decode: (reply): ExtendOutcome => {
    const outcome = text(reply[0]);
    if (outcome === 'extended') return { outcome, expiresAtMs: number(reply[1]), yield: number(reply[2]) === 1 };
    if (outcome === 'stale') return { outcome };
    return unknownOutcome('extend', reply);
  },
});
