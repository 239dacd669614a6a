import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type ProblemCode, problems, problemType, RequestProblem } from '../domain/problems.ts';
import { isA, isRetryable } from '../domain/thrown.ts';

/** What a call is answered with, before it takes the form that its caller understands. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
  readonly problem?: ProblemCode;
  /** Further headers, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of `body`, an answer that is not JSON. */
  readonly text?: { readonly mediaType: string; readonly body: string };
}

export const answer = (status: number, body: Readonly<Record<string, unknown>>): Answer => ({ status, body });

/** An answer that is no JSON. */
export const textAnswer = (mediaType: string, body: string): Answer => ({
  status: 200,
  body: {},
  text: { mediaType, body },
});

/** A problem as an answer. `members` are what its kind of problem has beside the common ones. */
export const problem = (
  code: ProblemCode,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
  retryAfterSeconds?: number,
): Answer => {
  const common = { type: problemType(code), title: problems[code].title, status: problems[code].status, detail };
  return {
    status: problems[code].status,
    // First to be read first, and last so that no further member takes its place.
    body: { ...common, ...members, ...common },
    problem: code,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
};

/** By then a failover is mostly over, and a lost connection certainly replaced. */
const UNAVAILABLE_RETRY_SECONDS = 2;

/** The one table from errors to problems. Only what was written for the caller reaches it: never the text of a surprise. */
export function problemOf(thrown: unknown): Answer {
  if (isA(thrown, RequestProblem)) return problem(thrown.code, thrown.message, thrown.members);
  if (isRetryable(thrown)) {
    const detail = `The queue cannot be reached or takes no more jobs; try again in ${UNAVAILABLE_RETRY_SECONDS} s.`;
    return problem('unavailable', detail, {}, UNAVAILABLE_RETRY_SECONDS);
  }
  return problem('internal', 'The fault is not in the request; the request id finds it in the logs.');
}

const withRequestId = ({ body, problem: code }: Answer, requestId: string) =>
  code === undefined ? body : { ...body, requestId };

const mediaTypeOf = ({ text, problem: code }: Answer) =>
  text?.mediaType ?? (code === undefined ? 'application/json' : 'application/problem+json');

/** For API Gateway. */
export const toHttp = (given: Answer, requestId: string): APIGatewayProxyStructuredResultV2 => ({
  statusCode: given.status,
  headers: {
    'content-type': mediaTypeOf(given),
    'cache-control': 'no-store',
    ...given.headers,
    ...(given.retryAfterSeconds !== undefined && { 'retry-after': String(given.retryAfterSeconds) }),
  },
  body: given.text?.body ?? JSON.stringify(withRequestId(given, requestId)),
});

/** For who invokes the function itself: one flat object, with `status` in it also when all went well. */
export const toDirect = (given: Answer, requestId: string): Readonly<Record<string, unknown>> => ({
  ...withRequestId(given, requestId),
  status: given.status,
  ...(given.retryAfterSeconds !== undefined && { retryAfterSeconds: given.retryAfterSeconds }),
});
