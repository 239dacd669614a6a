import * as fc from 'fast-check';

/** A JSON text. Made as text, since there is JSON that no JavaScript value can be turned into: `-0`, twice the same key. */
const texts = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '[]', '{}', '[[],{},[{}]]', '{"":{"":[]}}', '-0', '1e-7', '"\\ud800"'),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((number) => (Object.is(number, -0) ? '-0' : String(number))),
    fc.maxSafeInteger().map(String),
    string(),
    fc.array(tie('text'), { maxLength: 5 }).map((entries) => `[${entries.join()}]`),
    fc
      .uniqueArray(fc.tuple(keys(), tie('text')), { maxLength: 5, selector: ([key]) => JSON.parse(key) })
      .map((entries) => `{${entries.map(([key, value]) => `${key}:${value}`).join()}}`),
  ),
})).text;

function string(): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      // Code units: half a surrogate pair is text to JSON.
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
      fc.constantFrom('\u2028\u2029', '\n\r\n', '\0', ':|,;{}*%', '","', '\\', '\x1f', '\ufeff', '$&', '-0', '1e999'),
    )
    .map((value) => JSON.stringify(value));
}

function keys(): fc.Arbitrary<string> {
  const known = ['__proto__', 'constructor', 'toJSON', '', '0', '01', 'length', 'then', 'hasOwnProperty'];
  return fc.oneof(
    fc.constantFrom(...known).map((key) => JSON.stringify(key)),
    string(),
  );
}

/** JSON texts of every kind, small ones. */
export const jsonTexts = (count: number): string[] => fc.sample(texts, count);
