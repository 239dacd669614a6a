import verb from '../../../../lua/redrive.lua';
import { forAdmission } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';
import type { Absent } from './drop.ts';

interface RedriveReply {
  readonly outcome: 'redriven';
  readonly count: number;
  /** Dead letters that are left. */
  readonly remaining: number;
  /** All of the slice fitted, and there are more. */
  readonly more: boolean;
  readonly dispatch: boolean;
}

export const redrive = defineScript({
  name: 'redrive',
  parts: [...forAdmission, verb],
  // A full Redis drains by serving what waits, not by more of it.
  allowOom: false,
  fields: ['tenant', 'id', 'from'],
  decode: (reply): RedriveReply | Absent => {
    const outcome = text(reply[0]);
    const [, count, remaining, more, dispatch] = reply;
    if (outcome === 'absent') return { outcome, next: number(count) };
    if (outcome !== 'redriven') return unknownOutcome('redrive', reply);
    return {
      outcome,
      count: number(count),
      remaining: number(remaining),
      more: number(more) === 1,
      dispatch: number(dispatch) === 1,
    };
  },
});
