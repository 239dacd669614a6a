import type { Example } from '../lib/lambda/route.ts';
import { busyQueue } from './examples.ts';

export const putQueueExamples: readonly Example[] = [
  { name: 'paused', body: { paused: true }, status: 200, answer: { ...busyQueue, paused: true } },
  { name: 'half of it', body: { capacity: 20 }, status: 200, answer: { ...busyQueue, capacity: 20 } },
];

export const deleteQueueJobsExamples: readonly Example[] = [
  {
    name: 'removed',
    status: 200,
    answer: { queue: 'default', removed: { ready: 399_120, delayed: 0 }, remaining: 0 },
  },
];
