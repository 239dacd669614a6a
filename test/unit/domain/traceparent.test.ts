import { expect, it } from 'vitest';
import { parseTraceparent } from '../../../functions/lib/domain/traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const plain = `00-${TRACE}-${SPAN}-01`;

it.each([
  ['as it is', plain, plain],
  ['with its flags', `00-${TRACE}-${SPAN}-03`, `00-${TRACE}-${SPAN}-03`],
  ['with white space around it', ` ${plain}\t`, plain],
  ['of a later version', `cc-${TRACE}-${SPAN}-01`, plain],
  ['of a later version, with fields and flags that are not known yet', `cc-${TRACE}-${SPAN}-ff-what-may-come`, plain],
  ['of a later version, not sampled', `01-${TRACE}-${SPAN}-02`, `00-${TRACE}-${SPAN}-00`],
])('takes a trace %s', (_name, given, kept) => {
  expect(parseTraceparent(given)).toBe(kept);
});

it.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['words', 'not a trace'],
  ['capitals', plain.toUpperCase()],
  ['a forbidden version', `ff-${TRACE}-${SPAN}-01`],
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a long span', `00-${TRACE}-0${SPAN}-01`],
  ['no flags', `00-${TRACE}-${SPAN}`],
  ['one more field than its version has', `${plain}-more`],
  ['a later version with more characters, but no more field', `cc-${TRACE}-${SPAN}-011`],
  ['two headers at once', `${plain},${plain}`],
])('ignores %s', (_name, given) => {
  expect(parseTraceparent(given)).toBeUndefined();
});
