import { describe, expect, it } from 'vitest';
import { namedTenant } from '../../../functions/enqueue/tenant-from.ts';
import { isTenantId, type TenantId } from '../../../functions/lib/domain/ids.ts';
import { RequestProblem } from '../../../functions/lib/domain/problems.ts';

function tenant(text: string): TenantId {
  if (!isTenantId(text)) throw new Error(`no tenant id: ${text}`);
  return text;
}

/** The problem that a call ends with. */
function problemOf(call: () => unknown): RequestProblem {
  try {
    call();
  } catch (error) {
    if (error instanceof RequestProblem) return error;
    throw error;
  }
  throw new Error('there was no problem');
}

const named = (payloads: unknown[], envelope?: string, path = 'args[0].account_id') =>
  namedTenant(
    {
      ...(envelope !== undefined && { tenant: tenant(envelope) }),
      jobs: payloads.map((payload) => ({ type: 'echo', payload })),
    },
    path,
  );
const of = (id: unknown) => ({ args: [{ account_id: id }] });

describe('the tenant of payloads', () => {
  it('is what all of them say, text or whole number', () => {
    expect(named([of('acme'), of('acme')])).toBe('acme');
    expect(named([of(42)])).toBe('42');
    expect(named([of(42)], '42')).toBe('42');
  });

  it('is not looked for where the setting says nothing', () => {
    expect(named([of('acme')], undefined, '')).toBeUndefined();
    expect(named([of('acme')], 'globex', '')).toBe('globex');
  });

  it('is that of the envelope for payloads that say nothing', () => {
    expect(named([{}, of('acme')], 'acme')).toBe('acme');
  });

  it.each<[string, unknown[], string | undefined, string, RegExp]>([
    [
      'one says nothing',
      [of('acme'), {}],
      undefined,
      'jobs[1].payload.args[0].account_id',
      /names no tenant, expected a text/,
    ],
    [
      'they differ',
      [of('acme'), of('globex')],
      undefined,
      'jobs[1].payload.args[0].account_id',
      /"globex", expected "acme".*one for each/,
    ],
    ['the envelope differs', [of('acme')], 'globex', 'jobs[0].payload.args[0].account_id', /"acme", expected "globex"/],
    ['it is no id', [of('a\u0000')], undefined, 'jobs[0].payload.args[0].account_id', /no control characters/],
  ])('is refused by name when %s', (_why, payloads, envelope, path, detail) => {
    const problem = problemOf(() => named(payloads, envelope));
    expect(problem).toMatchObject({ code: 'invalid_request', members: { errors: [{ in: 'body', path }] } });
    expect(problem.message).toMatch(detail);
  });
});
