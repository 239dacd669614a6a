import type { FunctionSettings } from './table.ts';

/** What a plan says about a tenant. What it may leave out is then without a limit; a burst is then what a second brings. */
export interface PlanLimits {
  readonly weight: number;
  readonly maxDepth: number;
  readonly maxConcurrency: number;
  readonly maxBytes?: number | null;
  readonly maxJobsPerSecond?: number | null;
  readonly burst?: number | null;
}

/** The bounds by which Redis works, as they are stored there. Times in milliseconds. */
export interface QueueConfig {
  readonly version: number;
  readonly plans: Readonly<Record<string, PlanLimits>>;
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
  /** Null = no limit. */
  readonly maxQueueDepth: number | null;
  readonly maxQueueBytes: number | null;
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
  maxQueueDepth: settings.maxQueueDepth,
  maxQueueBytes: settings.maxQueueBytes,
});
