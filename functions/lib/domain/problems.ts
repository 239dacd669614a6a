/** Every problem that Rota answers with: the code ends the URN of its `type`. Codes are never reused for another meaning. */
export const problems = {
  malformed_body: { status: 400, title: 'The body is not JSON text in UTF-8' },
  invalid_request: { status: 400, title: 'The request has faults' },
  tenant_forbidden: { status: 403, title: 'The caller may not act for this tenant' },
  unknown_job: { status: 404, title: 'There is no such job' },
  not_found: { status: 404, title: 'There is no such route' },
  precondition_failed: { status: 412, title: 'The record has changed meanwhile' },
  too_large: { status: 413, title: 'The request is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  unknown_plan: { status: 422, title: 'There is no such plan' },
  unknown_job_type: { status: 422, title: 'There is no such job type' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key came before with another body' },
  tenant_full: { status: 429, title: 'The tenant has no room for these jobs' },
  queue_full: { status: 429, title: 'The queue has no room for these jobs' },
  batch_exceeds_limit: { status: 429, title: 'The batch is larger than the limit' },
  internal: { status: 500, title: 'Something went wrong here' },
  unavailable: { status: 503, title: 'The queue cannot be reached' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

export const problemType = <C extends ProblemCode>(code: C): `urn:rota:problem:${C}` => `urn:rota:problem:${code}`;

/** One fault of a request: where it is, and what is wrong there. */
export interface Fault {
  readonly in: 'body' | 'query' | 'path' | 'header';
  /** As one would write it in code, `jobs[3].cost`; empty for the whole. */
  readonly path: string;
  readonly detail: string;
}

/**
 * Ends a request with a problem. Thrown by what checks requests; what the queue answers is mapped to a problem as a value.
 */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly code: ProblemCode;
  readonly retryable = false;
  readonly members: Readonly<Record<string, unknown>>;

  /**
   * @param detail what was given, what was expected, what to do; goes to the caller
   * @param members further members of the problem document
   */
  constructor(code: ProblemCode, detail: string, members: Readonly<Record<string, unknown>> = {}) {
    super(detail);
    this.code = code;
    this.members = members;
  }
}
