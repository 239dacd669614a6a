import verb from '../../../../lua/pause.lua';
import { forTenants } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

export const pause = defineScript({
  name: 'pause',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: ['tenant', 'paused'],
  decode: (reply): { outcome: 'paused' } | { outcome: 'resumed'; dispatch: boolean } => {
    const outcome = text(reply[0]);
    if (outcome === 'paused') return { outcome };
    if (outcome === 'resumed') return { outcome, dispatch: number(reply[1]) === 1 };
    return unknownOutcome('pause', reply);
  },
});
