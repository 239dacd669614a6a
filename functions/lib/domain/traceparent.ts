/** Fields of the header in the form of version 00: trace, span and flags in hex. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

const NONE = /^0+$/;

/**
 * A `traceparent` as W3C Trace Context (https://www.w3.org/TR/trace-context/) has it, in the form of version 00. Undefined when
 * it is malformed: the standard has such a header ignored, since the caller's tracing must not decide about its request.
 */
export function parseTraceparent(given: string | undefined): string | undefined {
  const [, version = '', trace = '', span = '', flags = '', more] = FORM.exec(given?.trim() ?? '') ?? [];
  if (version === '' || version === 'ff' || NONE.test(trace) || NONE.test(span)) return undefined;
  if (version === '00') return more === undefined ? `00-${trace}-${span}-${flags}` : undefined;
  // Of a later version only the flag `sampled` is known to mean what it means here.
  return `00-${trace}-${span}-0${Number.parseInt(flags, 16) & 1}`;
}
