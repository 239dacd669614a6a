import verb from '../../../../lua/survey.lua';
import type { Survey, TenantReading } from '../../domain/outcomes.ts';
import { forTenants } from '../parts.ts';
import { afterOutcome, defineScript, number, optional, type Reply, text } from '../script.ts';
import { measured } from './enqueue.ts';
import { heldReasons } from './inspect.ts';

function decodeReading(flat: Reply): TenantReading {
  const [tenant, plan, weight, ready, delayed, flight, held, oldest, enqueued, served, rate, span] = flat;
  return {
    tenant: text(tenant),
    plan: text(plan),
    weight: number(weight),
    ready: number(ready),
    delayed: number(delayed),
    inFlight: number(flight),
    held: heldReasons(number(held)),
    oldestReadySinceMs: optional(oldest),
    enqueued: number(enqueued),
    served: number(served),
    ratePerSecond: measured(rate),
    rateSpanMs: number(span),
  };
}

export const survey = defineScript({
  name: 'survey',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: ['cursor', 'count'],
  decode: (reply): Survey => {
    const [now, cursor, rate, span, ...tenants] = afterOutcome('survey', 'surveyed', reply);
    return {
      nowMs: number(now),
      cursor: text(cursor),
      ratePerSecond: measured(rate),
      rateSpanMs: number(span),
      tenants: tenants.map((reading) => {
        if (typeof reading === 'number' || Buffer.isBuffer(reading))
          throw new TypeError('survey: expected a reading of each tenant');
        return decodeReading(reading);
      }),
    };
  },
});
