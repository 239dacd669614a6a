import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAYLOAD_MAX_DEPTH, payloadText } from '../../../functions/lib/domain/payload.ts';

/** The text of a payload that is fine. */
function textOf(value: unknown, source?: string): string {
  const read = payloadText(value, source);
  if ('fault' in read) throw new Error(read.fault);
  expect(read.bytes).toBe(Buffer.byteLength(read.text));
  return read.text;
}

const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
const keys = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', '', 'toJSON', '0'));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, [], {}, '\u2028\u2029', '\ud800', '\udc00x', '-0', '1e999'),
    numbers,
    fc.string({ unit: 'binary' }),
    fc.array(tie('value')),
    // Made by parsing, as a request is: assigning `__proto__` would set the prototype.
    fc
      .array(fc.tuple(keys, tie('value')))
      .map((entries) => JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`)),
  ),
})).value;

const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}"[[{"${'}]'.repeat(levels / 2)}`;

describe('payloads', () => {
  it('come back equal, whatever JSON they are, with and without the text they came in', () => {
    fc.assert(
      fc.property(json, (value) => {
        const source = JSON.stringify(value, (_key, inner) => (Object.is(inner, -0) ? JSON.rawJSON('-0') : inner));
        const parsed: unknown = JSON.parse(source);
        for (const text of [textOf(parsed, source), textOf(parsed)]) {
          expect(text.isWellFormed()).toBe(true);
          deepStrictEqual(JSON.parse(text), parsed);
          // Keys and their order, `__proto__` too, which comparing objects may pass over.
          expect(text).toBe(source);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['-0', '[-0.0]', '{"a":[-0,"-0"]}', '-0e5'])('keep the sign of zero in %s', (source) => {
    expect(JSON.parse(textOf(JSON.parse(source), source))).toStrictEqual(JSON.parse(source));
  });

  it.each(['1e999', '[-1E+400]', `1${'0'.repeat(400)}`])(
    'are refused when a number is beyond a double: %s',
    (source) => {
      expect(payloadText(JSON.parse(source), source)).toEqual({ fault: expect.stringContaining('1.797') });
      expect(payloadText(JSON.parse(source))).toEqual({ fault: expect.stringContaining('1.797') });
    },
  );

  it('may be nested as deep as stated and no deeper, also where the stack would end first', () => {
    for (const source of [nested(PAYLOAD_MAX_DEPTH), nested(PAYLOAD_MAX_DEPTH).replace('"[[{"', '"\\"[{\\\\"')]) {
      expect(textOf(JSON.parse(source), source)).toBe(source);
    }
    for (const levels of [PAYLOAD_MAX_DEPTH + 2, 200_000]) {
      const source = nested(levels);
      expect(payloadText(JSON.parse(source), source)).toEqual({ fault: 'nested at most 1000 levels deep' });
      expect(payloadText(JSON.parse(source))).toEqual({ fault: 'nested at most 1000 levels deep' });
    }
  });
});
