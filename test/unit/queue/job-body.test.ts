import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyText, readBody, TRACE_BYTES } from '../../../functions/lib/queue/job-body.ts';
import { jsonTexts } from '../../support/json.ts';

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdef')), minLength: digits, maxLength: digits });
const traces = fc.tuple(hex(32), hex(16), hex(2)).map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`);

it('gives back what it was made of', () => {
  const payloads = fc.constantFrom(...jsonTexts(200));
  fc.assert(
    fc.property(payloads, fc.option(traces, { nil: undefined }), (payload, traceparent) => {
      const body = { type: 'echo', payload, ...(traceparent !== undefined && { traceparent }) };
      const text = bodyText(body);
      expect(readBody(text)).toEqual(body);
      expect(Buffer.byteLength(text)).toBe(
        Buffer.byteLength(`echo\n${payload}`) + (traceparent === undefined ? 0 : TRACE_BYTES),
      );
    }),
  );
});

it('is read from a record of a release that knew no traces, white space of its own included', () => {
  expect(readBody('echo\n{"a":1}')).toEqual({ type: 'echo', payload: '{"a":1}' });
  expect(readBody('echo\n[1] \n')).toEqual({ type: 'echo', payload: '[1] \n' });
  expect(readBody('echo\n" \t"')).toEqual({ type: 'echo', payload: '" \t"' });
});
