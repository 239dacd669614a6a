import verb from '../../../../lua/mark.lua';
import { forQueue } from '../parts.ts';
import { defineScript, text, unknownOutcome } from '../script.ts';

export const mark = defineScript({
  name: 'mark',
  parts: [...forQueue, verb],
  allowOom: true,
  fields: ['owner', 'wish'],
  decode: (reply): 'marked' | 'other' | 'left' => {
    const outcome = text(reply[0]);
    if (outcome === 'marked' || outcome === 'other' || outcome === 'left') return outcome;
    return unknownOutcome('mark', reply);
  },
});
