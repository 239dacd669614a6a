import { describe, expect, it } from 'vitest';
import { enqueueJobs } from '../../../functions/contract/jobs.ts';
import { enqueueAnswer } from '../../../functions/enqueue/answers.ts';
import { identify } from '../../../functions/enqueue/identity.ts';
import { newJobs } from '../../../functions/enqueue/new-jobs.ts';
import { isTenantId, type TenantId } from '../../../functions/lib/domain/ids.ts';
import type { EnqueueOutcome, Full } from '../../../functions/lib/domain/outcomes.ts';
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

const rules = { jobTypes: ['echo', 'sleep'], maxAttempts: 5, longestSeconds: 285 };

describe('the jobs of a request', () => {
  const job = { type: 'echo', payload: null };

  it('get the defaults of the queue, and keep what they name themselves', () => {
    const own = {
      type: 'sleep',
      payload: { ms: 1 },
      delaySeconds: 1.5,
      cost: 2.5,
      maxAttempts: 1,
      timeoutSeconds: 285,
    };
    expect(newJobs({ jobs: [job, own] }, { source: '', trace: undefined }, rules)).toEqual([
      { type: 'echo', payload: 'null', delayMs: 0, cost: 1, maxAttempts: 5, timeoutSeconds: 0 },
      { type: 'sleep', payload: '{"ms":1}', delayMs: 1_500, cost: 2.5, maxAttempts: 1, timeoutSeconds: 285 },
    ]);
  });

  it('are refused with every unknown type named, and the known ones listed', () => {
    const jobs = [job, { ...job, type: 'ecoh' }, { ...job, type: '__proto__' }];
    const problem = problemOf(() => newJobs({ jobs }, { source: '', trace: undefined }, rules));
    expect(problem.code).toBe('unknown_job_type');
    expect(problem.members).toEqual({
      jobTypes: ['echo', 'sleep'],
      errors: [
        { in: 'body', path: 'jobs[1].type', detail: 'given "ecoh", expected a known job type' },
        { in: 'body', path: 'jobs[2].type', detail: 'given "__proto__", expected a known job type' },
      ],
    });
  });

  it('may have payloads of 262,144 bytes as UTF-8 and not one more', () => {
    // A turtle has 4 bytes and the quotes two.
    const payload = '🐢'.repeat(65_535);
    expect(
      newJobs({ jobs: [{ ...job, payload: `${payload}ab` }] }, { source: '', trace: undefined }, rules),
    ).toHaveLength(1);
    const problem = problemOf(() =>
      newJobs({ jobs: [job, { ...job, payload: `${payload}abc` }] }, { source: '', trace: undefined }, rules),
    );
    expect(problem.code).toBe('too_large');
    expect(problem.members.errors).toEqual([
      { in: 'body', path: 'jobs[1].payload', detail: 'given 262145 bytes, expected at most 262144' },
    ]);
  });

  it('are refused with a timeout that the processing function has no time for', () => {
    const problem = problemOf(() =>
      newJobs({ jobs: [{ ...job, timeoutSeconds: 286 }] }, { source: '', trace: undefined }, rules),
    );
    expect(problem.members.errors).toEqual([
      { in: 'body', path: 'jobs[0].timeoutSeconds', detail: expect.stringMatching(/^given 286, expected at most 285/) },
    ]);
  });

  it('together have the same bound when they come by a direct invoke', () => {
    const large = Array.from({ length: 5 }, () => ({ ...job, payload: 'x'.repeat(220_000) }));
    expect(problemOf(() => newJobs({ jobs: large }, { source: undefined, trace: undefined }, rules)).code).toBe(
      'too_large',
    );
    expect(newJobs({ jobs: large.slice(1) }, { source: undefined, trace: undefined }, rules)).toHaveLength(4);
  });
});

const call = (claims?: Record<string, unknown>) => ({ claims, direct: false });

describe('whose jobs they are', () => {
  const iam = { api: 'iam', jwt: { tenantClaim: 'tenant', planClaim: 'plan' } } as const;
  const jwt = { ...iam, api: 'jwt' } as const;

  it('says the body, with whomever AWS let through', () => {
    expect(identify(call(), tenant('acme'), iam)).toEqual({ tenant: 'acme', plan: undefined });
    // Claims there can be only with tokens; they are nobody's word here.
    expect(identify(call({ tenant: 'globex', plan: 'x' }), tenant('acme'), iam)).toEqual({ tenant: 'acme' });
    expect(problemOf(() => identify(call(), undefined, iam))).toMatchObject({
      code: 'invalid_request',
      members: { errors: [{ in: 'body', path: 'tenant' }] },
    });
  });

  it('says the token, and the body may not differ', () => {
    const claims = { tenant: 'acme', plan: 'growth' };
    expect(identify(call(claims), undefined, jwt)).toEqual({ tenant: 'acme', plan: 'growth' });
    expect(identify(call(claims), tenant('acme'), jwt)).toEqual({ tenant: 'acme', plan: 'growth' });
    expect(problemOf(() => identify(call(claims), tenant('globex'), jwt)).code).toBe('tenant_forbidden');
  });

  it.each([
    undefined,
    {},
    { tenant: '' },
    { tenant: 7 },
    { tenant: 'a\u0000' },
    { tenant: ['acme'] },
    Object.create({ tenant: 'acme' }),
  ])('is nobody with a token of %j', (claims) => {
    expect(problemOf(() => identify(call(claims), tenant('acme'), jwt)).code).toBe('tenant_forbidden');
  });

  it('says the body with a direct invoke, which only AWS lets through', () => {
    expect(identify({ claims: undefined, direct: true }, tenant('acme'), jwt)).toEqual({ tenant: 'acme' });
  });
});

const answered = (jobs: number, outcome: EnqueueOutcome) => enqueueAnswer(tenant('acme'), jobs, outcome);

describe('the answer', () => {
  const rate = { tenant: 10, queue: 100, weightShare: 0.5 };
  const full = (given: Partial<Full> = {}): EnqueueOutcome => ({
    outcome: 'full',
    cap: 'maxDepth',
    used: 4_980,
    limit: 5_000,
    needed: 500,
    waiting: 4_980,
    depth: 4_980,
    room: 20,
    rate,
    ...given,
  });

  it.each<[string, EnqueueOutcome, number]>([
    ['admitted', { outcome: 'accepted', ids: ['0-1'], depth: 1, dispatch: true }, 202],
    ['repeated', { outcome: 'repeated', ids: ['0-1'], depth: 1 }, 200],
    ['a key reused', { outcome: 'conflict' }, 422],
    ['full', full(), 429],
    ['an unknown plan', { outcome: 'unknown_plan', plans: ['free'] }, 422],
  ])('keeps to the contract when %s', (_name, outcome, status) => {
    const { body, status: given } = answered(1, outcome);
    expect(given).toBe(status);
    // The request id is added on the way out.
    const whole = status < 400 ? body : { ...body, requestId: 'r' };
    expect(enqueueJobs.responses[status]?.schema.safeParse(whole).error?.issues).toBeUndefined();
  });

  it('at a cap says when this batch fits, by how fast the tenant is served', () => {
    expect(answered(500, full())).toMatchObject({
      retryAfterSeconds: 48,
      body: { tenant: 'acme', cap: 'maxDepth', depth: 4_980, limit: 5_000, room: 20, estimatedDrainSeconds: 498 },
    });
  });

  it('at a cap of bytes reckons with jobs of the size that those waiting have', () => {
    // 1,000 bytes too many, 500 a job: two jobs have to go.
    const bytes = full({
      cap: 'maxBytes',
      used: 50_000,
      limit: 60_000,
      needed: 11_000,
      waiting: 100,
      depth: 100,
      rate: { tenant: 1, queue: 9, weightShare: 0.5 },
    });
    expect(answered(11, bytes)).toMatchObject({
      problem: 'tenant_full',
      retryAfterSeconds: 2,
      body: { cap: 'maxBytes' },
    });
  });

  it("at a cap of the whole queue goes by the queue's rate", () => {
    const queue = full({ cap: 'maxQueueDepth', used: 9_900, limit: 10_000, needed: 500, waiting: 9_900 });
    expect(answered(500, queue)).toMatchObject({ problem: 'queue_full', status: 429, retryAfterSeconds: 4 });
  });

  it('does not count on more than the tenant may have', () => {
    const slow = full({ rate: { tenant: null, queue: 100, weightShare: 0.5, most: 4 } });
    expect(answered(500, slow)).toMatchObject({ retryAfterSeconds: 120, body: { estimatedDrainSeconds: 1_245 } });
  });

  it('at a cap says 60 s and estimates nothing when nothing was served lately', () => {
    const still = full({ rate: { tenant: null, queue: null, weightShare: 0.5 } });
    expect(answered(500, still)).toMatchObject({ retryAfterSeconds: 60, body: { estimatedDrainSeconds: null } });
  });

  it('to a batch larger than the cap says that it never fits', () => {
    expect(answered(21, full({ limit: 20, used: 0, needed: 21 }))).toMatchObject({
      status: 429,
      problem: 'batch_exceeds_limit',
      retryAfterSeconds: 3_600,
      body: { detail: expect.stringContaining('never fits') },
    });
    expect(answered(20, full({ limit: 20, used: 1, needed: 20 }))).toMatchObject({ problem: 'tenant_full' });
  });
});
