import verb from '../../../../lua/purge.lua';
import type { PurgeReceipt } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

export const purge = defineScript({
  name: 'purge',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['tenant', 'scope'],
  decode: (reply): PurgeReceipt | 'more' => {
    const [outcome, ready, delayed, inFlight, dead] = reply;
    if (text(outcome) === 'more') return 'more';
    if (text(outcome) !== 'purged') return unknownOutcome('purge', reply);
    return { ready: number(ready), delayed: number(delayed), inFlight: number(inFlight), dead: number(dead) };
  },
});
