import verb from '../../../../lua/sweep.lua';
import type { SweepDifference, SweepOutcome } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { afterOutcome, defineScript, number, text } from '../script.ts';

export const sweep = defineScript({
  name: 'sweep',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['totals'],
  decode: (reply): SweepOutcome => {
    const [now, tenants, repaired, ...flat] = afterOutcome('sweep', 'swept', reply);
    const differences: SweepDifference[] = [];
    for (let i = 0; i < flat.length; i += 4) {
      differences.push({
        tenant: text(flat[i]) || null,
        counter: text(flat[i + 1]),
        kept: number(flat[i + 2]),
        counted: number(flat[i + 3]),
      });
    }
    return { nowMs: number(now), tenants: number(tenants), repaired: number(repaired), differences };
  },
});
