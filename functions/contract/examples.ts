import type { Example } from '../lib/lambda/route.ts';

const problem = (code: string, status: number, title: string, detail: string) => ({
  type: `urn:rota:problem:${code}`,
  title,
  status,
  detail,
  requestId: 'DxT5vgKOoAMESVQ=',
});

const unlimited = { maxBytes: null, maxJobsPerSecond: null, burst: null };

const acme = {
  tenant: 'acme',
  plan: 'growth',
  weight: 3,
  limits: { maxDepth: 500_000, maxConcurrency: 50, ...unlimited },
  record: { plan: 'growth', maxDepth: 500_000 },
  paused: false,
  depth: 399_120,
  ready: 399_120,
  delayed: 0,
  inFlight: 480,
  dead: 2,
  oldestAgeSeconds: 41.3,
  share: { realised: 0.71, entitled: 0.75, windowSeconds: 94.2 },
  estimatedDrainSeconds: 1_663,
  waiting: { because: 'turn', visitsAhead: 2, estimatedStartSeconds: 0.1 },
  served: 880,
  done: 390,
  failed: 12,
  enqueued: 400_000,
};

const idle = {
  ...acme,
  tenant: 'né:1|*%🐢',
  plan: 'free',
  weight: 1,
  limits: { maxDepth: 5_000, maxConcurrency: 50, ...unlimited },
  record: {},
  depth: 0,
  ready: 0,
  inFlight: 0,
  dead: 0,
  oldestAgeSeconds: null,
  share: { realised: null, entitled: 0, windowSeconds: 0 },
  estimatedDrainSeconds: 0,
  waiting: null,
  served: 0,
  done: 0,
  failed: 0,
  enqueued: 0,
};

const batch = {
  tenant: 'acme',
  jobs: [
    { type: 'echo', payload: { invoice: 1234 } },
    { type: 'sleep', payload: { ms: 50 }, delaySeconds: 2.5, cost: 2, maxAttempts: 3, timeoutSeconds: 10 },
  ],
};

const admitted = { tenant: 'acme', jobs: [{ id: '0-1' }, { id: '0-2' }], depth: 2 };

export const enqueueExamples: readonly Example[] = [
  {
    name: 'admitted',
    headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    body: batch,
    status: 202,
    answer: admitted,
  },
  { name: 'repeated', headers: { 'idempotency-key': 'import-2026-11-30' }, body: batch, status: 200, answer: admitted },
  {
    name: 'full',
    body: batch,
    status: 429,
    answer: {
      ...problem(
        'tenant_full',
        429,
        'The tenant has no room for these jobs',
        'There may be 5000 waiting jobs of the tenant, and the batch adds 2: there is room for 1 of its 2 jobs; try again in 1 s.',
      ),
      tenant: 'acme',
      cap: 'maxDepth',
      depth: 4_999,
      limit: 5_000,
      room: 1,
      estimatedDrainSeconds: 1_250,
    },
  },
  {
    name: 'never fits',
    body: batch,
    status: 429,
    answer: {
      ...problem(
        'batch_exceeds_limit',
        429,
        'The batch is larger than the limit',
        'The batch adds 2, and there may never be more than 1 waiting jobs of the tenant: it never fits. Send smaller ones, or have the limit raised.',
      ),
      tenant: 'acme',
      cap: 'maxDepth',
      depth: 0,
      limit: 1,
      room: 1,
      estimatedDrainSeconds: 0,
    },
  },
  {
    name: 'key of other jobs',
    headers: { 'idempotency-key': 'import-2026-11-30' },
    body: { tenant: 'acme', jobs: [{ type: 'echo', payload: { invoice: 4321 } }] },
    status: 422,
    answer: problem(
      'idempotency_key_reused',
      422,
      'The idempotency key came before with another body',
      'The key came with another body; use a new key for new jobs.',
    ),
  },
  {
    name: 'two faults',
    body: { tenant: 'acme', jobs: [{ type: 'echo', payload: {}, cost: 0, delay: 5 }] },
    status: 400,
    answer: {
      ...problem(
        'invalid_request',
        400,
        'The request has faults',
        'At jobs[0].cost: given 0, expected at least 0.01. And 1 more faults, see errors.',
      ),
      errors: [
        { in: 'body', path: 'jobs[0].cost', detail: 'given 0, expected at least 0.01' },
        { in: 'body', path: 'jobs[0].delay', detail: 'there is no such field' },
      ],
    },
  },
  {
    name: 'unknown job type',
    body: { tenant: 'acme', jobs: [{ type: 'ecoh', payload: null }] },
    status: 422,
    answer: {
      ...problem(
        'unknown_job_type',
        422,
        'There is no such job type',
        'Known job types are echo, sleep, fail, webhook.',
      ),
      errors: [{ in: 'body', path: 'jobs[0].type', detail: 'given "ecoh", expected a known job type' }],
      jobTypes: ['echo', 'sleep', 'fail', 'webhook'],
    },
  },
];

const path = { params: { tenant: 'acme' } };

export const listExamples: readonly Example[] = [
  {
    name: 'longest waiting',
    query: { sort: 'oldest', limit: '1' },
    status: 200,
    answer: { tenants: [acme], next: '1' },
  },
];

export const getExamples: readonly Example[] = [
  { name: 'waiting', ...path, status: 200, answer: acme },
  { name: 'never seen', params: { tenant: '~bsOpOjF8KiXwn5Ci' }, status: 200, answer: idle },
];

export const putExamples: readonly Example[] = [
  { name: 'plan with an override', ...path, body: { plan: 'growth', maxDepth: 500_000 }, status: 200, answer: acme },
  {
    name: 'a rate',
    ...path,
    body: { plan: 'growth', maxDepth: 500_000, maxJobsPerSecond: 50, burst: 100 },
    status: 200,
    answer: {
      ...acme,
      limits: { ...acme.limits, maxJobsPerSecond: 50, burst: 100 },
      record: { plan: 'growth', maxDepth: 500_000, maxJobsPerSecond: 50, burst: 100 },
      waiting: null,
    },
  },
  {
    name: 'what it would do',
    ...path,
    query: { dryRun: 'true' },
    body: { plan: 'enterprise' },
    status: 200,
    answer: {
      tenant: 'acme',
      dryRun: true,
      plan: 'enterprise',
      weight: 8,
      limits: { maxDepth: 500_000, maxConcurrency: 50, ...unlimited },
      share: { before: 0.5, after: 0.8 },
      gains: [{ tenant: 'acme', before: 0.5, after: 0.8 }],
      losses: [{ tenant: 'globex', before: 0.5, after: 0.2 }],
      notNamed: 0,
      complete: true,
    },
  },
  {
    name: 'changed by another',
    ...path,
    headers: { 'if-match': '"0123456789abcdef"' },
    body: { plan: 'enterprise' },
    status: 412,
    answer: problem(
      'precondition_failed',
      412,
      'The record has changed meanwhile',
      'Somebody else has replaced the record since you read it, nothing was changed: read the tenant, and put with its ETag.',
    ),
  },
  {
    name: 'unknown plan',
    ...path,
    body: { plan: 'gold' },
    status: 422,
    answer: {
      ...problem(
        'unknown_plan',
        422,
        'There is no such plan',
        'At plan: given "gold", expected a known plan; known plans are enterprise, free, growth.',
      ),
      errors: [{ in: 'body', path: 'plan', detail: 'given "gold", expected a known plan' }],
      plans: ['enterprise', 'free', 'growth'],
    },
  },
];

export const pauseExamples: readonly Example[] = [
  {
    name: 'paused',
    ...path,
    status: 200,
    answer: { ...acme, paused: true, waiting: { because: 'paused', visitsAhead: null, estimatedStartSeconds: null } },
  },
];

export const deleteExamples: readonly Example[] = [
  {
    name: 'removed',
    ...path,
    status: 200,
    answer: { tenant: 'acme', removed: { ready: 399_120, delayed: 0, inFlight: 480, dead: 2 } },
  },
];

export const healthExamples: readonly Example[] = [
  {
    name: 'well',
    status: 200,
    answer: { status: 'ok', queue: 'default', redis: { milliseconds: 1 }, dispatcherAlive: true, paused: false },
  },
];

export const busyQueue = {
  queue: 'default',
  paused: false,
  capacity: 40,
  deployedCapacity: 40,
  visitsInFlight: 40,
  visitsUnopened: 1,
  waitingTenants: 3,
  rotation: 2,
  depth: 399_120,
  ready: 399_120,
  delayed: 0,
  inFlight: 480,
  dead: 2,
  bytes: 41_508_480,
  oldestAgeSeconds: 41.3,
  servedPerSecond: 240,
  estimatedDrainSeconds: 1_663,
  dispatcherAlive: true,
  totals: { enqueued: 400_000, served: 880, done: 390, failed: 12, died: 2, dropped: 0, late: 0 },
};

export const queueExamples: readonly Example[] = [{ name: 'busy', status: 200, answer: busyQueue }];

export const metricsExamples: readonly Example[] = [
  {
    name: 'a queue with one tenant at work',
    status: 200,
    answer: `# HELP jobs_served Jobs of the tenant taken by visits, less those given back
# TYPE jobs_served counter
jobs_served_total{tenant="acme",plan="growth"} 880
jobs_served_total{tenant="other"} 12
# HELP tenant_queue_depth Jobs of the tenant waiting
# TYPE tenant_queue_depth gauge
tenant_queue_depth{tenant="acme"} 399120
tenant_queue_depth{tenant="other"} 0
# EOF
`,
  },
];
