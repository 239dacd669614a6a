import verb from '../../../../lua/enqueue.lua';
import type { Cap, Full } from '../../domain/outcomes.ts';
import { forAdmission } from '../parts.ts';
import { bytes, defineScript, number, type Reply, text, unknownOutcome } from '../script.ts';

type EnqueueReply =
  | { outcome: 'accepted'; jobs: number; depth: number; dispatch: boolean }
  | { outcome: 'repeated'; enqueueId: Buffer; jobs: number; depth: number }
  | { outcome: 'conflict' }
  | ({ outcome: 'full' } & Full)
  | { outcome: 'unknown_plan'; plans: string[] };

/** A measured rate: the scripts send -1 where a reading tells nothing. */
export function measured(value: Reply[number] | undefined): number | null {
  const rate = number(value);
  return rate < 0 ? null : rate;
}

const CAPS: readonly Cap[] = ['maxDepth', 'maxBytes', 'maxQueueDepth', 'maxQueueBytes'];

function decodeFull([name, used, limit, needed, waiting, depth, room, ...rate]: Reply): Full {
  const cap = CAPS.find((known) => known === text(name));
  if (!cap) throw new TypeError(`enqueue names a cap that there is not, ${text(name)}`);
  return {
    cap,
    used: number(used),
    limit: number(limit),
    needed: number(needed),
    waiting: number(waiting),
    depth: number(depth),
    room: number(room),
    rate: {
      tenant: measured(rate[0]),
      queue: measured(rate[1]),
      weightShare: number(rate[2]),
      most: measured(rate[3]) ?? undefined,
    },
  };
}

export const enqueue = defineScript({
  name: 'enqueue',
  parts: [...forAdmission, verb],
  allowOom: false,
  fields: ['tenant', 'claimPlan', 'onceField', 'digest', 'enqueueId'],
  decode: (reply): EnqueueReply => {
    const [outcome, a, b, c] = reply;
    switch (text(outcome)) {
      case 'accepted':
        return { outcome: 'accepted', jobs: number(a), depth: number(b), dispatch: number(c) === 1 };
      case 'repeated':
        return { outcome: 'repeated', enqueueId: bytes(a), jobs: number(b), depth: number(c) };
      case 'conflict':
        return { outcome: 'conflict' };
      case 'full':
        return { outcome: 'full', ...decodeFull(reply.slice(1)) };
      case 'unknown_plan':
        return { outcome: 'unknown_plan', plans: reply.slice(1).map(text) };
      default:
        return unknownOutcome('enqueue', reply);
    }
  },
});
