import type { FunctionSettings } from './table.ts';

/** The bounds by which Redis works, as they are stored there. Times in milliseconds. */
export interface QueueConfig {
  readonly version: number;
  readonly plans: Readonly<Record<string, { weight: number; maxDepth: number; maxConcurrency: number }>>;
  readonly defaultPlan: string;
  readonly quantum: number;
  readonly capacity: number;
  readonly visitConcurrency: number;
  readonly maxVisitMs: number;
  readonly spreadMs: number;
  readonly leaseMs: number;
  readonly openMs: number;
  readonly unopenedLimit: number;
  readonly maxConcurrency: number;
  readonly deadLetters: number;
  readonly idempotencyMs: number;
  readonly purgeMs: number;
}

const milliseconds = (seconds: number) => Math.round(seconds * 1000);

/** What the functions write into Redis at cold start; the highest `version` stays. */
export const queueConfig = (settings: FunctionSettings): QueueConfig => ({
  version: settings.deployVersion,
  plans: settings.plans,
  defaultPlan: settings.defaultPlan,
  quantum: settings.quantum,
  capacity: settings.capacity,
  visitConcurrency: settings.visitConcurrency,
  maxVisitMs: milliseconds(settings.maxVisitSeconds),
  spreadMs: milliseconds(settings.spreadSeconds),
  leaseMs: milliseconds(settings.leaseSeconds),
  openMs: milliseconds(settings.openSeconds),
  unopenedLimit: settings.unopenedLimit,
  maxConcurrency: settings.maxConcurrency,
  deadLetters: settings.deadLetters,
  idempotencyMs: milliseconds(settings.idempotencySeconds),
  purgeMs: milliseconds(settings.purgeSeconds),
});
