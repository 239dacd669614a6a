/** Most bytes of a payload, as UTF-8 of the text it is kept as. */
export const PAYLOAD_MAX_BYTES = 262_144;

/** Most bytes of a request. */
export const REQUEST_MAX_BYTES = 1_048_576;

/** Deepest nesting of arrays and objects in a payload. What writes JSON is bounded by the stack, at 2,000 levels and more. */
export const PAYLOAD_MAX_DEPTH = 1_000;

/** The JSON text of a payload, or what was expected of it instead. */
export type PayloadText = { readonly text: string; readonly bytes: number } | { readonly fault: string };

// What `JSON.stringify` would change without a word: -0 becomes 0, and a number past the largest double, read as Infinity, null.
const NEEDS_CARE = /-0|[eE]\+?\d{3}|\d{309}/;

/** The language has it; its type declarations do not yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

class NotFinite extends RangeError {}

function faithful(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new NotFinite('number out of range');
  return Object.is(value, -0) ? JSON.rawJSON('-0') : value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** How deep arrays and objects are nested in a JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (quoted && unit === BACKSLASH) at++;
    else if (unit === QUOTE) quoted = !quoted;
    // `[` and `{` differ in one bit, and so do `]` and `}`; nothing else of JSON outside strings is like them.
    else if (!quoted && (unit | 0x20) === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (!quoted && (unit | 0x20) === 0x7d) depth--;
  }
  return deepest;
}

const TOO_DEEP = `nested at most ${PAYLOAD_MAX_DEPTH} levels deep`;

/**
 * The text that a parsed payload is kept as: equal, when parsed again, to what came in. Lone surrogates are escaped, so the
 * text is well-formed. Digits that a double cannot hold were rounded by parsing.
 *
 * @param source the JSON text that `value` was parsed from, when there is one; tells whether the slower, careful way is needed
 */
export function payloadText(value: unknown, source?: string): PayloadText {
  const careful = source === undefined || NEEDS_CARE.test(source);
  try {
    const text = careful ? JSON.stringify(value, faithful) : JSON.stringify(value);
    return depthOf(text) > PAYLOAD_MAX_DEPTH ? { fault: TOO_DEEP } : { text, bytes: Buffer.byteLength(text) };
  } catch (error) {
    if (error instanceof NotFinite) return { fault: 'no number beyond 1.7976931348623157e308, the largest double' };
    // Nested so deeply that the stack ended first.
    if (error instanceof RangeError) return { fault: TOO_DEEP };
    throw error;
  }
}
