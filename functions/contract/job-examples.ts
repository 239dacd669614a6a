import type { Example } from '../lib/lambda/route.ts';

const path = { params: { tenant: 'acme' } };
/** The job of the examples. */
export const ONE = '0-0193f4c2a1b0c5d1e2f30000';
const onePath = { params: { tenant: 'acme', job: ONE } };

const job = {
  id: ONE,
  type: 'fail',
  payload: { times: 1 },
  attempts: 1,
  maxAttempts: 1,
  cost: 1,
  enqueuedAt: '2026-11-30T09:05:07.123Z',
};

const letter = { ...job, diedAt: '2026-11-30T09:05:09.010Z', error: 'Error: attempt 1 of 1 that are to fail' };

const unknownJob = {
  type: 'urn:rota:problem:unknown_job',
  title: 'There is no such job',
  status: 404,
  detail: `The tenant has no dead letter ${ONE}: it may have been dropped or redriven.`,
  requestId: 'c9Yw1hqGoAMEJPA=',
};

export const waitingJobsExamples: readonly Example[] = [
  {
    name: 'next to be served',
    ...path,
    query: { limit: '1' },
    status: 200,
    answer: { jobs: [{ ...job, attempts: 0, readyAt: '2026-11-30T09:05:07.123Z' }], next: '399119' },
  },
];

export const listDeadExamples: readonly Example[] = [
  { name: 'newest', ...path, query: { limit: '1' }, status: 200, answer: { dead: [letter], next: '1' } },
];

export const dropExamples: readonly Example[] = [
  { name: 'dropped', ...path, status: 200, answer: { tenant: 'acme', dropped: 2 } },
];

export const dropOneExamples: readonly Example[] = [
  { name: 'dropped', ...onePath, status: 200, answer: { tenant: 'acme', dropped: 1 } },
  { name: 'gone before', ...onePath, status: 404, answer: unknownJob },
];

export const redriveExamples: readonly Example[] = [
  { name: 'all that fit', ...path, status: 200, answer: { tenant: 'acme', redriven: 2, remaining: 0 } },
];

export const redriveOneExamples: readonly Example[] = [
  { name: 'redriven', ...onePath, status: 200, answer: { tenant: 'acme', redriven: 1, remaining: 0 } },
  { name: 'gone before', ...onePath, status: 404, answer: unknownJob },
];
