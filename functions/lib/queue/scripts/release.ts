import verb from '../../../../lua/release.lua';
import type { ReleaseOutcome } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

export const release = defineScript({
  name: 'release',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['leaseId', 'token'],
  decode: (reply): ReleaseOutcome => {
    const outcome = text(reply[0]);
    if (outcome === 'released') return { outcome, refusals: number(reply[1]) };
    if (outcome === 'stale') return { outcome };
    return unknownOutcome('release', reply);
  },
});
