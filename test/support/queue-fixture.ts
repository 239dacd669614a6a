import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { NewJob } from '../../functions/lib/queue/queue-client.ts';

/** The settings' defaults as Redis holds them, but for what a test gives. */
export function testConfig(given: Partial<QueueConfig> = {}): QueueConfig {
  return {
    version: 1,
    plans: {
      enterprise: { weight: 8, maxDepth: 500_000, maxConcurrency: 50 },
      growth: { weight: 3, maxDepth: 100_000, maxConcurrency: 50 },
      free: { weight: 1, maxDepth: 5_000, maxConcurrency: 50 },
    },
    defaultPlan: 'free',
    quantum: 4,
    capacity: 40,
    visitConcurrency: 1,
    maxVisitMs: 5_000,
    spreadMs: 1_000,
    leaseMs: 60_000,
    openMs: 20_000,
    unopenedLimit: 1_000,
    maxConcurrency: 50,
    deadLetters: 1_000,
    idempotencyMs: 86_400_000,
    purgeMs: 120_000,
    maxQueueDepth: null,
    maxQueueBytes: null,
    ...given,
  };
}

/** A job of type `echo` unless said otherwise. */
export function newJob(given: Partial<NewJob> = {}): NewJob {
  return { type: 'echo', payload: '{}', delayMs: 0, cost: 1, maxAttempts: 5, timeoutSeconds: 0, ...given };
}

/** So many jobs whose payloads are their numbers. */
export function newJobs(count: number, given: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, (_, i) => newJob({ payload: String(i), ...given }));
}
