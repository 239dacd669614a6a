import verb from '../../../../lua/configure.lua';
import { forTenants } from '../parts.ts';
import { defineScript, text, unknownOutcome } from '../script.ts';

export const configure = defineScript({
  name: 'configure',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: ['version', 'settings'],
  decode: (reply): 'configured' | 'kept' => {
    const outcome = text(reply[0]);
    if (outcome === 'configured' || outcome === 'kept') return outcome;
    return unknownOutcome('configure', reply);
  },
});
