import verb from '../../../../lua/purge.lua';
import type { PurgeReceipt } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { afterOutcome, defineScript, number } from '../script.ts';

export const purge = defineScript({
  name: 'purge',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['tenant', 'scope'],
  decode: (reply): PurgeReceipt => {
    const [ready, delayed, inFlight, dead] = afterOutcome('purge', 'purged', reply);
    return { ready: number(ready), delayed: number(delayed), inFlight: number(inFlight), dead: number(dead) };
  },
});
