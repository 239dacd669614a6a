import verb from '../../../../lua/drop.lua';
import { forDead } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

/** The letter is not in the slice that was looked through; `next` is where to go on, 0 when it is nowhere. */
export interface Absent {
  readonly outcome: 'absent';
  readonly next: number;
}

export const drop = defineScript({
  name: 'drop',
  parts: [...forDead, verb],
  allowOom: true,
  fields: ['tenant', 'id', 'from'],
  decode: (reply): { outcome: 'dropped'; count: number } | Absent => {
    const outcome = text(reply[0]);
    if (outcome === 'dropped') return { outcome, count: number(reply[1]) };
    if (outcome === 'absent') return { outcome, next: number(reply[1]) };
    return unknownOutcome('drop', reply);
  },
});
