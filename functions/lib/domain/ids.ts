declare const tenantId: unique symbol;

/** A tenant id that was checked at the edge. Below the edge nothing else passes for one. */
export type TenantId = string & { readonly [tenantId]: true };

/** Most characters of a tenant id, counted in code points. */
const TENANT_ID_MAX = 128;

const CONTROL = /\p{Cc}/u;
const PLAIN_SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const ENCODED_SEGMENT = /^~[A-Za-z0-9_-]+$/;

/** What keeps `text` from being a tenant id, in words that can follow "expected"; undefined when it is one. */
export function tenantIdFault(text: string): string | undefined {
  if (text === '') return 'at least one character';
  if (!text.isWellFormed()) return 'well-formed Unicode, without lone surrogates';
  // A code point takes at most two units: the cheap test first, so that a megabyte of id is not spread into an array.
  if (text.length > 2 * TENANT_ID_MAX || Array.from(text).length > TENANT_ID_MAX)
    return `at most ${TENANT_ID_MAX} characters`;
  if (CONTROL.test(text)) return 'no control characters';
  // Normalising it here would make two ids of the caller's one tenant, or one id two, without a word.
  if (text.normalize('NFC') !== text) return 'Unicode normalisation form C';
  return undefined;
}

/** Narrows a text to a tenant id. */
export const isTenantId = (text: string): text is TenantId => tenantIdFault(text) === undefined;

/** The path segment that addresses a tenant: the id itself where gateways and signers leave it alone, else `~` + base64url. */
export function tenantSegment(id: string): string {
  return PLAIN_SEGMENT.test(id) ? id : `~${Buffer.from(id, 'utf8').toString('base64url')}`;
}

/**
 * The tenant id that a path segment addresses, or what was expected instead.
 * Each id has one segment only: a second spelling would slip past policies that allow or deny paths.
 */
export function parseTenantSegment(segment: string): { readonly id: TenantId } | { readonly fault: string } {
  const spelling = 'an id of [A-Za-z0-9_-][A-Za-z0-9._-]*, any other as ~ followed by the base64url of its UTF-8';
  if (!PLAIN_SEGMENT.test(segment) && !ENCODED_SEGMENT.test(segment)) return { fault: spelling };
  const id = PLAIN_SEGMENT.test(segment) ? segment : Buffer.from(segment.slice(1), 'base64url').toString('utf8');
  const fault = tenantIdFault(id);
  if (fault !== undefined) return { fault: `a tenant id: ${fault}` };
  if (!isTenantId(id) || tenantSegment(id) !== segment) return { fault: spelling };
  return { id };
}
