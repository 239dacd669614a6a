import { expect } from 'vitest';
import type { Route } from '../../functions/lib/lambda/route.ts';
import { type Fault, type ProblemCode, problems, problemType } from '../../functions/lib/domain/problems.ts';
import type { Answer } from './stack.ts';

/** Put into whatever a tenant would not like to read elsewhere. Short, since a parser quotes ten characters and no more. */
export const SECRET = 'psst#7!';

/** What only a stack trace or a dump of the process would have. */
const INNARDS = /node_modules|node:internal|\.mjs|\.ts\b|\.lua|\bat \S+ \(|user_script|ReplyError|ioredis/;

const SENTENCES_WITH_PLACE: ReadonlySet<ProblemCode> = new Set(['invalid_request', 'unknown_plan']);

const codes = Object.keys(problems).filter((code): code is ProblemCode => code in problems);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isFault = (value: unknown): value is Fault => isObject(value) && 'path' in value && 'in' in value;

const faultsOf = ({ errors }: Record<string, unknown>): Fault[] =>
  Array.isArray(errors) ? errors.filter((error) => isFault(error)) : [];

const isDocumented = (route: Route, status: number) => (body: unknown) =>
  route.responses[status]?.schema.safeParse(body).success === true;

/**
 * What a refusal says: its code, then the places of its faults, as `body jobs[0].cost`. Fails the test when the answer is
 * not the problem document that the contract states, or has something of the process or of a payload in it.
 */
export function refusal(route: Route, { status, headers, body }: Answer): string[] {
  const said = JSON.stringify(body);
  if (!isObject(body)) throw new Error(`no problem document: ${said}`);
  const code = codes.find((known) => problemType(known) === body.type);
  if (code === undefined) throw new Error(`${status} with an unknown problem: ${said}`);
  const { title, requestId, detail } = body;
  expect({ code, status, title, type: headers.get('content-type'), requestId }).toEqual({
    code,
    ...problems[code],
    type: 'application/problem+json',
    requestId: headers.get('apigw-requestid'),
  });
  expect(body).toSatisfy(isDocumented(route, status));
  expect(said).not.toMatch(INNARDS);
  expect(said).not.toContain(SECRET);
  const faults = faultsOf(body);
  // The sentence for people names the first place as well.
  const [first] = faults;
  if (first !== undefined && SENTENCES_WITH_PLACE.has(code)) {
    expect(detail).toContain(`At ${first.path === '' ? `the ${first.in}` : first.path}: `);
  }
  return [code, ...faults.map((fault) => `${fault.in} ${fault.path}`)];
}
