import type {
  ClaimOutcome,
  EnqueueOutcome,
  ExtendOutcome,
  JobResult,
  Lease,
  OpenOutcome,
  PurgeReceipt,
  QueueStats,
  ReleaseOutcome,
  SettleOutcome,
  SubscribeOutcome,
  TenantPage,
  TenantView,
  TickOutcome,
} from '../domain/outcomes.ts';
import type { QueueCore } from './core.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Pages } from './pages.ts';

/** One job to enqueue, checked at the edge. */
export interface NewJob {
  readonly type: string;
  /** JSON text. */
  readonly payload: string;
  readonly delayMs: number;
  readonly cost: number;
  readonly maxAttempts: number;
  /** 0 = the queue's default. */
  readonly timeoutSeconds: number;
  /** The trace it belongs to, as `parseTraceparent` gives it. */
  readonly traceparent?: string | undefined;
}

export interface EnqueueRequest {
  readonly tenant: string;
  /** The plan of the authorizer's claim, if there is one. */
  readonly claimPlan?: string | undefined;
  /** The caller's idempotency key; without one the request is still safe to retry once, for a minute. */
  readonly idempotencyKey?: string | undefined;
  readonly jobs: readonly NewJob[];
}

/** A tenant's subscription record: billing's word. Absent means "as the plan says". */
export interface SubscriptionRecord {
  readonly plan?: string | undefined;
  readonly weight?: number | undefined;
  readonly maxDepth?: number | undefined;
  readonly maxConcurrency?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxJobsPerSecond?: number | undefined;
  readonly burst?: number | undefined;
}

/** The queue's faces: one method a script. Every method throws `QueueUnavailable` when Redis is away. */
export type QueueClient = QueueCore & Producer & Worker & Dispatcher & Operator;

export interface Producer {
  /** Admission and push in one step; retried once on a lost reply without admitting twice. */
  enqueue(request: EnqueueRequest): Promise<EnqueueOutcome>;
  stats(): Promise<QueueStats>;
}

export interface Worker {
  /** Opens a lease once; the same `nonce` again gets the same answer. */
  open(lease: Lease, nonce: string): Promise<OpenOutcome>;
  /** Renews an open lease for a full lease time. */
  extend(lease: Lease): Promise<ExtendOutcome>;
  /** Settles jobs of a visit; with `claimNext`, the end of the visit claims the next one under the same lease. */
  settle(lease: Lease, results: readonly JobResult[], options: { claimNext: boolean }): Promise<SettleOutcome>;
}

export interface Dispatcher {
  /** Claims up to `max` (1–50) visits in the fair order. */
  claim(max: number): Promise<ClaimOutcome>;
  /** Gives a whole unopened visit back after its invoke was refused. */
  release(lease: Lease): Promise<ReleaseOutcome>;
  /** Reaps, promotes, lets held tenants back and purges, a slice of each. */
  tick(): Promise<TickOutcome>;
  /** Blocks on a connection of its own until a visit may be possible, or `timeoutMs` (≤ 5,000) have passed. */
  waitForWake(timeoutMs: number): Promise<boolean>;
  /**
   * Sets the mark of life for 3 s, as this dispatcher's own: `take` whoever had it, `keep` unless another dispatcher has taken
   * it since.
   */
  markDispatcher(wish: 'take' | 'keep'): Promise<void>;
  /** Takes this dispatcher's mark away, so that the next enqueue invokes one. That of another dispatcher stays. */
  unmarkDispatcher(): Promise<void>;
}

export interface Operator extends DeadLetters, Pages {
  stats(): Promise<QueueStats>;
  inspect(tenant: string): Promise<TenantView>;
  /** Tenants with waiting jobs, deepest or longest waiting first. `limit` 1–1,000; `cursor` from the page before. */
  list(sort: 'depth' | 'oldest', limit: number, cursor?: string): Promise<TenantPage>;
  /** The watcher's last reading and its number; number 0 and no text when there is none. */
  lastReading(): Promise<{ number: number; reading: string | null }>;
  /** Replaces the record; with `ifMatch` (etags with commas between, or `*`) only one that the caller has seen. */
  subscribe(tenant: string, record: SubscriptionRecord, ifMatch?: string): Promise<SubscribeOutcome>;
  pause(tenant: string): Promise<void>;
  /** `dispatch` is true when the caller must invoke a dispatcher. */
  resume(tenant: string): Promise<{ dispatch: boolean }>;
  /** Removes everything of the tenant, or its waiting jobs only. */
  purge(tenant: string, scope: 'everything' | 'jobs'): Promise<PurgeReceipt>;
  /**
   * The queue as a whole: paused or not, at most so many visits in flight (null = as deployed). What is not given stays as it is.
   * `dispatch` is true when the caller must invoke a dispatcher.
   */
  steer(wish: { paused?: boolean | undefined; capacity?: number | null | undefined }): Promise<{ dispatch: boolean }>;
}
