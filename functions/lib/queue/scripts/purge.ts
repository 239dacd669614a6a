import verb from '../../../../lua/purge.lua';
import type { PurgeReceipt } from '../../domain/outcomes.ts';
import { forLeases } from '../parts.ts';
import { defineScript, number } from '../script.ts';

export const purge = defineScript({
  name: 'purge',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['tenant', 'scope'],
  decode: ([, ready, delayed, inFlight, dead]): PurgeReceipt => ({
    ready: number(ready),
    delayed: number(delayed),
    inFlight: number(inFlight),
    dead: number(dead),
  }),
});
