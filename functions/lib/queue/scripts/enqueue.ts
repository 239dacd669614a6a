import verb from '../../../../lua/enqueue.lua';
import type { ServiceRate } from '../../domain/outcomes.ts';
import { forJobs } from '../parts.ts';
import { bytes, defineScript, number, type Reply, text, unknownOutcome } from '../script.ts';

type EnqueueReply =
  | { outcome: 'accepted'; jobs: number; depth: number; dispatch: boolean }
  | { outcome: 'repeated'; enqueueId: Buffer; jobs: number; depth: number }
  | { outcome: 'conflict' }
  | { outcome: 'full'; depth: number; limit: number; rate: ServiceRate }
  | { outcome: 'unknown_plan'; plans: string[] };

/** A measured rate: the scripts send -1 where a reading tells nothing. */
export function measured(value: Reply[number] | undefined): number | null {
  const rate = number(value);
  return rate < 0 ? null : rate;
}

export const enqueue = defineScript({
  name: 'enqueue',
  parts: [...forJobs, verb],
  allowOom: false,
  fields: ['tenant', 'claimPlan', 'onceField', 'digest', 'enqueueId'],
  decode: (reply): EnqueueReply => {
    const [outcome, a, b, c, d, e] = reply;
    switch (text(outcome)) {
      case 'accepted':
        return { outcome: 'accepted', jobs: number(a), depth: number(b), dispatch: number(c) === 1 };
      case 'repeated':
        return { outcome: 'repeated', enqueueId: bytes(a), jobs: number(b), depth: number(c) };
      case 'conflict':
        return { outcome: 'conflict' };
      case 'full':
        return {
          outcome: 'full',
          depth: number(a),
          limit: number(b),
          rate: { tenant: measured(c), queue: measured(d), weightShare: number(e) },
        };
      case 'unknown_plan':
        return { outcome: 'unknown_plan', plans: reply.slice(1).map(text) };
      default:
        return unknownOutcome('enqueue', reply);
    }
  },
});
