import verb from '../../../../lua/subscribe.lua';
import type { SubscribeOutcome } from '../../domain/outcomes.ts';
import { forTenants } from '../parts.ts';
import { defineScript, number, text, unknownOutcome } from '../script.ts';

export const subscribe = defineScript({
  name: 'subscribe',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: [
    'tenant',
    'ifMatch',
    'plan',
    'weight',
    'maxDepth',
    'maxConcurrency',
    'maxBytes',
    'maxJobsPerSecond',
    'burst',
  ],
  decode: (reply): SubscribeOutcome => {
    const outcome = text(reply[0]);
    if (outcome === 'subscribed') return { outcome, dispatch: number(reply[1]) === 1 };
    if (outcome === 'unknown_plan') return { outcome, plans: reply.slice(1).map(text) };
    if (outcome === 'changed') return { outcome, etag: text(reply[1]) };
    return unknownOutcome('subscribe', reply);
  },
});
