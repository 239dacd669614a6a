import verb from '../../../../lua/withdraw.lua';
import { forTenants } from '../parts.ts';
import { afterOutcome, defineScript, number } from '../script.ts';

export const withdraw = defineScript({
  name: 'withdraw',
  parts: [...forTenants, verb],
  // It holds the jobs twice for a moment, and a full queue is one that is moved away.
  allowOom: true,
  fields: ['tenant', 'count'],
  decode: (reply): { count: number; left: number } => {
    const [count, left] = afterOutcome('withdraw', 'withdrawn', reply);
    return { count: number(count), left: number(left) };
  },
});
