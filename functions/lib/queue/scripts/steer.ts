import verb from '../../../../lua/steer.lua';
import { forTenants } from '../parts.ts';
import { afterOutcome, defineScript, number } from '../script.ts';

export const steer = defineScript({
  name: 'steer',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: ['paused', 'capacity'],
  decode: (reply): { dispatch: boolean } => ({ dispatch: number(afterOutcome('steer', 'steered', reply)[0]) === 1 }),
});
