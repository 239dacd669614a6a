import verb from '../../../../lua/keep.lua';
import { forQueue } from '../parts.ts';
import { defineScript, text, unknownOutcome } from '../script.ts';

export const keep = defineScript({
  name: 'keep',
  parts: [...forQueue, verb],
  allowOom: true,
  fields: ['follows', 'reading'],
  decode: (reply): 'kept' | 'overtaken' => {
    const outcome = text(reply[0]);
    if (outcome === 'kept' || outcome === 'overtaken') return outcome;
    return unknownOutcome('keep', reply);
  },
});
