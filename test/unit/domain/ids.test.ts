import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTenantId, parseTenantSegment, tenantIdFault, tenantSegment } from '../../../functions/lib/domain/ids.ts';

const tenantIds = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 128 })
  .map((text) => text.normalize('NFC'))
  .filter(isTenantId);

describe('tenant ids', () => {
  it.each(['a', 'a:b{c}|*%', '🐢', '42', '__proto__', ' ', 'a/b?c#d', 'é', '..', '~', '\u200d', '🐢'.repeat(128)])(
    'takes %j',
    (id) => {
      expect(tenantIdFault(id)).toBeUndefined();
    },
  );

  it.each([
    ['', 'at least one character'],
    ['x'.repeat(129), 'at most 128 characters'],
    ['🐢'.repeat(129), 'at most 128 characters'],
    ['a\u0000b', 'no control characters'],
    ['a\u007f', 'no control characters'],
    ['a\u0085', 'no control characters'],
    ['a\nb', 'no control characters'],
    ['\ud800', 'well-formed Unicode, without lone surrogates'],
    ['e\u0301', 'Unicode normalisation form C'],
  ])('refuses %j', (text, expected) => {
    expect(tenantIdFault(text)).toBe(expected);
  });

  it('finds every id again by the segment that addresses it', () => {
    fc.assert(
      fc.property(tenantIds, (id) => {
        const segment = tenantSegment(id);
        expect(segment).toMatch(/^[A-Za-z0-9._~-]+$/);
        expect(encodeURIComponent(segment)).toBe(segment);
        expect(parseTenantSegment(segment)).toEqual({ id });
      }),
    );
  });

  it('has one segment for an id, and no other', () => {
    for (const segment of ['~YWNtZQ', '~YWNtZQ==', '~', '~_w', '.a', '..', 'a%20b', 'a b', '', '~8J-Qog==']) {
      expect(parseTenantSegment(segment)).toHaveProperty('fault');
    }
    // The last letter has bits to spare: decoders pass over them.
    expect(parseTenantSegment('~8J-Qog')).toEqual({ id: '🐢' });
    expect(parseTenantSegment('~8J-Qoh')).toHaveProperty('fault', expect.stringContaining('base64url'));
  });
});
