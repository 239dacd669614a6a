import verb from '../../../../lua/tick.lua';
import type { TickOutcome } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { afterOutcome, defineScript, number } from '../script.ts';

export const tick = defineScript({
  name: 'tick',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: [],
  decode: (reply): TickOutcome => {
    const [now, lapsed, crashed, promoted, released, purged, more] = afterOutcome('tick', 'ticked', reply);
    return {
      nowMs: number(now),
      lapsed: number(lapsed),
      crashed: number(crashed),
      promoted: number(promoted),
      released: number(released),
      purged: number(purged),
      more: number(more) === 1,
    };
  },
});
