import verb from '../../../../lua/peek.lua';
import { forTenants } from '../parts.ts';
import { afterOutcome, bytes, defineScript, number } from '../script.ts';

/** Some of a tenant's jobs as they are stored. */
export interface PeekReply {
  /** Jobs behind these. */
  readonly left: number;
  readonly records: { readonly dueMs: number; readonly record: Buffer }[];
}

export const peek = defineScript({
  name: 'peek',
  parts: [...forTenants, verb],
  allowOom: true,
  fields: ['tenant', 'state', 'left', 'count'],
  decode: (reply): PeekReply => {
    const [, left, ...flat] = afterOutcome('peek', 'peeked', reply);
    const records: { dueMs: number; record: Buffer }[] = [];
    for (let i = 0; i < flat.length; i += 2) records.push({ dueMs: number(flat[i]), record: bytes(flat[i + 1]) });
    return { left: number(left), records };
  },
});
