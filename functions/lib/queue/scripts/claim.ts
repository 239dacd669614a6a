import verb from '../../../../lua/claim.lua';
import type { ClaimedVisit, ClaimOutcome } from '../../domain/outcomes.ts';
import { forVisits } from '../parts.ts';
import { defineScript, number, optional, text, unknownOutcome } from '../script.ts';

const OUTCOMES = ['claimed', 'empty', 'no_capacity', 'paused', 'unopened'] as const;

export const claim = defineScript({
  name: 'claim',
  parts: [...forVisits, verb],
  allowOom: true,
  fields: ['shard', 'seed', 'maxVisits'],
  decode: (reply): ClaimOutcome => {
    const [word, now, inFlight, rotation, nextDue, ...flat] = reply;
    const outcome = OUTCOMES.find((known) => known === text(word)) ?? unknownOutcome('claim', reply);
    const visits: ClaimedVisit[] = [];
    for (let i = 0; i < flat.length; i += 5) {
      visits.push({
        leaseId: text(flat[i]),
        token: text(flat[i + 1]),
        tenant: text(flat[i + 2]),
        jobs: number(flat[i + 3]),
        lanes: number(flat[i + 4]),
      });
    }
    return {
      outcome,
      visits,
      nowMs: number(now),
      inFlight: number(inFlight),
      rotation: number(rotation),
      nextDueMs: optional(nextDue),
    };
  },
});
