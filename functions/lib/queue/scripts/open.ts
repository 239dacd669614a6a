import verb from '../../../../lua/open.lua';
import { forLeases } from '../parts.ts';
import { bytes, defineScript, number, type Reply, text, unknownOutcome } from '../script.ts';

/** An open visit as the scripts send it; the client makes jobs of the records. */
export interface OpenedReply {
  readonly nowMs: number;
  readonly expiresAtMs: number;
  readonly token: string;
  readonly visit: number;
  readonly tenant: string;
  readonly lanes: number;
  readonly records: { index: number; record: Buffer }[];
}

/** Decodes what `openedReply` in lua/lib/lease.lua sends, after the outcome word. */
export function decodeOpened(reply: Reply): OpenedReply {
  const [, now, expires, token, visit, tenant, lanes, ...flat] = reply;
  const records: OpenedReply['records'] = [];
  for (let i = 0; i < flat.length; i += 2) records.push({ index: number(flat[i]), record: bytes(flat[i + 1]) });
  return {
    nowMs: number(now),
    expiresAtMs: number(expires),
    token: text(token),
    visit: number(visit),
    tenant: text(tenant),
    lanes: number(lanes),
    records,
  };
}

type OpenReply = { outcome: 'opened'; opened: OpenedReply } | { outcome: 'already_open' } | { outcome: 'gone' };

export const open = defineScript({
  name: 'open',
  parts: [...forLeases, verb],
  allowOom: true,
  fields: ['leaseId', 'token', 'nonce'],
  decode: (reply): OpenReply => {
    const outcome = text(reply[0]);
    if (outcome === 'opened') return { outcome, opened: decodeOpened(reply) };
    if (outcome === 'already_open' || outcome === 'gone') return { outcome };
    return unknownOutcome('open', reply);
  },
});
