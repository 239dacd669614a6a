import type { NewJob } from './queue-client.ts';

/** What a record holds of a job beside its header: the scripts never look into it. */
type JobBody = Pick<NewJob, 'type' | 'payload' | 'traceparent'>;

/** The four characters that JSON takes for white space, as digits to the base of four. */
const BLANKS = ' \t\n\r';

/** Version 00 of the header is told by the form alone; what is kept are the digits of trace, span and flags. */
const DIGITS = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const DIGITS_COUNT = 50;

/** What a trace adds to a body. */
export const TRACE_BYTES = 2 * DIGITS_COUNT;

const toBlanks = (hex: string): string =>
  Array.from(hex)
    .map((digit) => Number.parseInt(digit, 16))
    .map((value) => `${BLANKS[value >> 2]}${BLANKS[value & 3]}`)
    .join('');

function fromBlanks(blanks: string): string {
  let hex = '';
  for (let at = 0; at + 1 < blanks.length; at += 2) {
    hex += (BLANKS.indexOf(blanks[at] ?? '') * 4 + BLANKS.indexOf(blanks[at + 1] ?? '')).toString(16);
  }
  return hex;
}

/**
 * The text of a body: type, line feed, payload as JSON, and the trace as white space behind it.
 *
 * During a deploy, and after it is taken back, the release before reads these bodies. It knows type and payload only, and
 * takes the rest for the payload: as white space the trace means nothing to it, where any other text would make the payload
 * one that is no JSON, and the job a dead letter. That costs 100 bytes a job that has a trace, and none without.
 */
export function bodyText({ type, payload, traceparent }: JobBody): string {
  const [, trace = '', span = '', flags = ''] = DIGITS.exec(traceparent ?? '') ?? [];
  return `${type}\n${payload}${toBlanks(trace + span + flags)}`;
}

/** What {@link bodyText}, or the release before, made. */
export function readBody(text: string): JobBody {
  const cut = text.indexOf('\n');
  const rest = text.slice(cut + 1);
  const payload = rest.trimEnd();
  const type = text.slice(0, cut);
  const digits = fromBlanks(rest.slice(payload.length));
  if (digits.length !== DIGITS_COUNT) return { type, payload: rest };
  const traceparent = `00-${digits.slice(0, 32)}-${digits.slice(32, 48)}-${digits.slice(48)}`;
  return { type, payload, traceparent };
}
