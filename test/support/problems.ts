import { expect } from 'vitest';
import type { Route } from '../../functions/contract/route.ts';
import { type ProblemCode, problems, problemType } from '../../functions/lib/domain/problems.ts';
import type { Answer } from './stack.ts';

/** Put into whatever a tenant would not like to read elsewhere. */
export const SECRET = 'kaleidoscope-of-the-tenant';

/** What only a stack trace or a dump of the process would have. */
const INNARDS = /node_modules|node:internal|\.mjs|\.ts\b|\.lua|\bat \S+ \(|user_script|ReplyError|ioredis/;

/** What a refusal names, as `place path`, in order. */
function places(body: object): string[] {
  const errors: unknown = Reflect.get(body, 'errors');
  if (!Array.isArray(errors)) return [];
  return errors.map((fault: { in: string; path: string }) => `${fault.in} ${fault.path}`);
}

/**
 * Holds an answer against the contract's refusal of that code: status, media type, the members that the contract states, and
 * nothing of the process or of a payload in it.
 *
 * @param expected places of the faults as `body jobs[0].cost`, in order; leave out where the code has none
 */
export function expectProblem(route: Route, answer: Answer, code: ProblemCode, expected: readonly string[] = []): void {
  const { status, headers, body } = answer;
  const said = JSON.stringify(body);
  expect({ status, type: Object(body).type, places: places(Object(body)) }, said).toEqual({
    status: problems[code].status,
    type: problemType(code),
    places: expected,
  });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(route.responses[status]?.schema.safeParse(body).error?.issues, said).toBeUndefined();
  expect(Object(body).requestId).toBe(headers.get('apigw-requestid'));
  expect(said).not.toMatch(INNARDS);
  expect(said).not.toContain(SECRET);
  // The sentence for people names the first place as well.
  if (expected[0] !== undefined && code !== 'too_large' && code !== 'unknown_job_type') {
    const [place = '', path = ''] = expected[0].split(/ (.*)/s);
    expect(Object(body).detail).toContain(`At ${path === '' ? `the ${place}` : path}: `);
  }
}
