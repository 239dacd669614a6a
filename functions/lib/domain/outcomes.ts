/**
 * What the queue answers: every outcome is a value of a discriminated union, so that a caller's `switch` is checked for
 * completeness. Times are milliseconds on Redis's clock unless a name says otherwise.
 */

/** Ends a `switch` over a union: reaching it is a compile error as long as a case is missing. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}

/** How fast a tenant is being served, for estimates. Jobs per second; null when nothing was served lately. */
export interface ServiceRate {
  /** The tenant's own rate over its last one to two minutes. */
  readonly tenant: number | null;
  /** The whole queue's rate over its last one to two minutes. */
  readonly queue: number | null;
  /** The tenant's weight as a part (0–1) of the weights of all tenants in the rotation, itself included. */
  readonly weightShare: number;
  /** The tenant's maxJobsPerSecond, where it has one. */
  readonly most?: number | undefined;
}

/** The caps on what may wait: of the tenant, and of the queue as a whole. */
export type Cap = 'maxDepth' | 'maxBytes' | 'maxQueueDepth' | 'maxQueueBytes';

/** A batch that a cap refuses. Jobs or bytes, by the cap. */
export interface Full {
  readonly cap: Cap;
  /** What counts against the cap now. */
  readonly used: number;
  readonly limit: number;
  /** What the batch would add. */
  readonly needed: number;
  /** Jobs that count against the cap now. */
  readonly waiting: number;
  /** Jobs of the tenant that wait. */
  readonly depth: number;
  /** Jobs of the batch, from the first on, that would be admitted. */
  readonly room: number;
  readonly rate: ServiceRate;
}

export type EnqueueOutcome =
  /** Admitted, all of them. `ids` in the order given; `dispatch` is true when the caller must invoke a dispatcher. */
  | { readonly outcome: 'accepted'; readonly ids: string[]; readonly depth: number; readonly dispatch: boolean }
  /** The same idempotency key and body came before: the first answer again, nothing admitted. */
  | { readonly outcome: 'repeated'; readonly ids: string[]; readonly depth: number }
  /** The same idempotency key came before with another body; nothing admitted. */
  | { readonly outcome: 'conflict' }
  /** The batch would pass a cap; nothing admitted, nothing written. */
  | ({ readonly outcome: 'full' } & Full)
  | { readonly outcome: 'unknown_plan'; readonly plans: string[] };

/** A claimed visit: what a process invocation needs to open it, and what a dispatcher logs. */
export interface Lease {
  readonly leaseId: string;
  readonly token: string;
}

export interface ClaimedVisit extends Lease {
  readonly tenant: string;
  readonly jobs: number;
  readonly lanes: number;
}

export interface ClaimOutcome {
  /** `claimed` when at least one visit was; else why none could be. */
  readonly outcome: 'claimed' | 'empty' | 'no_capacity' | 'paused' | 'unopened';
  readonly visits: ClaimedVisit[];
  readonly nowMs: number;
  /** Visits in flight after this call. */
  readonly inFlight: number;
  /** Tenants in the rotation after this call. */
  readonly rotation: number;
  /** When the next delayed job, held tenant or lease falls due; null when nothing will. */
  readonly nextDueMs: number | null;
}

/** A job as its visit carries it. `index` names it in a settle. */
export interface VisitJob {
  readonly index: number;
  readonly id: string;
  readonly type: string;
  /** The payload as JSON text, byte for byte as it was enqueued. */
  readonly payload: string;
  /** The trace that its enqueue came with, by W3C Trace Context. */
  readonly traceparent?: string | undefined;
  /** 1 for the first run. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** 0 = the queue's default. */
  readonly timeoutSeconds: number;
  readonly enqueuedAtMs: number;
  readonly readySinceMs: number;
}

/** A job that waits or has died. */
export interface StoredJob extends Omit<VisitJob, 'index' | 'attempt'> {
  /** Attempts used. */
  readonly attempts: number;
  readonly cost: number;
}

export interface WaitingJob extends StoredJob {
  /** When it became ready, or will. */
  readonly readyAtMs: number;
}

export interface DeadLetter extends StoredJob {
  readonly diedAtMs: number;
  /** What its last attempt failed of. */
  readonly error: string;
}

/** Some entries, and the cursor from which to go on; null = these were the last. */
export interface Page<Entry> {
  readonly entries: Entry[];
  readonly next: string | null;
}

export interface Redriven {
  readonly redriven: number;
  /** Dead letters that are left. */
  readonly remaining: number;
  /** The caller must invoke a dispatcher. */
  readonly dispatch: boolean;
}

/** An opened visit. */
export interface Visit extends Lease {
  readonly tenant: string;
  readonly lanes: number;
  /** 1 for a lease's first visit, counted up when the lease chains to the next. */
  readonly visit: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
  readonly jobs: VisitJob[];
}

export type OpenOutcome =
  | { readonly outcome: 'opened'; readonly visit: Visit }
  /** Another invocation opened it: a duplicate delivery, to be dropped. */
  | { readonly outcome: 'already_open' }
  /** Expired, released or ended: nothing to do. */
  | { readonly outcome: 'gone' };

export type ExtendOutcome =
  | { readonly outcome: 'extended'; readonly expiresAtMs: number; readonly yield: boolean }
  | { readonly outcome: 'stale' };

/** What became of one job of a visit. */
export type JobResult =
  | { readonly index: number; readonly result: 'done'; readonly durationMs: number }
  /** Failed: runs again after `retryDelayMs` while attempts are left, else dead. */
  | {
      readonly index: number;
      readonly result: 'failed';
      readonly durationMs: number;
      readonly retryDelayMs: number;
      readonly error: string;
    }
  /** Failed for good: dead at once, whatever attempts are left. */
  | { readonly index: number; readonly result: 'dead'; readonly durationMs: number; readonly error: string }
  /** Not started, given back: no attempt used, charge refunded, rejoins in its old place. */
  | { readonly index: number; readonly result: 'given_back' }
  /** Started and cut short: an attempt is used, rejoins in its old place (or dies with its last attempt). */
  | { readonly index: number; readonly result: 'unfinished'; readonly durationMs: number; readonly error: string };

export type SettleOutcome =
  /** The visit goes on. `yield`: give back what has not started, a tenant with nothing in flight waits for a slot. */
  | { readonly outcome: 'settled'; readonly left: number; readonly yield: boolean }
  /** The visit is over and its slot is free. */
  | { readonly outcome: 'ended' }
  /** The visit is over and the same lease holds the next one, already open. */
  | { readonly outcome: 'continued'; readonly visit: Visit }
  /** The lease expired or is another's: nothing was changed. */
  | { readonly outcome: 'stale' };

export type ReleaseOutcome =
  | { readonly outcome: 'released'; readonly refusals: number }
  | { readonly outcome: 'stale' };

export interface TickOutcome {
  readonly nowMs: number;
  /** Leases that expired: never opened, and opened but not renewed. */
  readonly lapsed: number;
  readonly crashed: number;
  /** Delayed jobs and retries that became ready. */
  readonly promoted: number;
  /** Held tenants that were let back into the rotation. */
  readonly released: number;
  readonly purged: number;
  /** Some slice was full: call again at once. */
  readonly more: boolean;
}

export type HeldReason = 'paused' | 'concurrency' | 'rate' | 'backoff';

/** One tenant's state. An unknown tenant is an idle one: zeros, the default plan. */
export interface TenantView {
  readonly tenant: string;
  readonly plan: string;
  /** The subscription record as it was put; null where it says nothing. */
  readonly record: {
    plan: string | null;
    weight: number | null;
    maxDepth: number | null;
    maxConcurrency: number | null;
    maxBytes: number | null;
    maxJobsPerSecond: number | null;
    burst: number | null;
  };
  /** Differs whenever the record does. */
  readonly etag: string;
  /** The plan of the last caller's claim. */
  readonly claimPlan: string | null;
  readonly weight: number;
  readonly maxDepth: number;
  readonly maxConcurrency: number;
  readonly maxBytes: number | null;
  readonly maxJobsPerSecond: number | null;
  readonly burst: number;
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly lanes: number;
  readonly dead: number;
  readonly bytes: number;
  readonly held: HeldReason[];
  /** End of a backoff. */
  readonly heldUntilMs: number | null;
  /** When a tenant that is held by its rate has the tokens for its next visit; null without a rate. */
  readonly limitedUntilMs: number | null;
  readonly oldestReadySinceMs: number | null;
  /** When the earliest of its delayed jobs becomes ready. */
  readonly dueMs: number | null;
  /** Of the queue as a whole, at the same moment. Free slots can be below 0 after the capacity was lowered. */
  readonly queuePaused: boolean;
  readonly freeSlots: number;
  readonly dispatcherAlive: boolean;
  /** Tenants that will be visited before it; null when it is not in the rotation. */
  readonly visitsAhead: number | null;
  readonly rate: ServiceRate;
  /** The span the rates were measured over, in ms; 0 when there is no reading yet. */
  readonly rateWindowMs: number;
  /** Counted since the tenant was first seen: jobs claimed less those given back, done, failed (each try), enqueued. */
  readonly served: number;
  readonly done: number;
  readonly failed: number;
  readonly enqueued: number;
  readonly p95Ms: number | null;
  readonly meanMs: number | null;
  readonly nowMs: number;
}

export interface QueueStats {
  readonly nowMs: number;
  readonly paused: boolean;
  readonly capacity: number;
  /** The capacity while the operator states no other. */
  readonly deployedCapacity: number;
  readonly visitsInFlight: number;
  readonly visitsUnopened: number;
  /** Tenants in the rotation, and tenants with waiting jobs. */
  readonly rotation: number;
  readonly waitingTenants: number;
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly dead: number;
  readonly bytes: number;
  readonly oldestReadySinceMs: number | null;
  readonly dispatcherAlive: boolean;
  /** Cumulative since Redis was empty. */
  readonly enqueued: number;
  readonly served: number;
  readonly done: number;
  readonly failed: number;
  readonly died: number;
  readonly dropped: number;
  /** Settles that came with an old token, and were ignored. */
  readonly late: number;
  readonly ratePerSecond: number | null;
  readonly virtualClock: number;
}

/** One tenant as the watcher of the queue reads it. */
export interface TenantReading {
  readonly tenant: string;
  readonly plan: string;
  readonly weight: number;
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly held: HeldReason[];
  readonly oldestReadySinceMs: number | null;
  /** Counted since the tenant was first seen. `served` falls when jobs are given back. */
  readonly enqueued: number;
  readonly served: number;
  /** Jobs per second, null when nothing was served lately, and the span they were counted over in ms. */
  readonly ratePerSecond: number | null;
  readonly rateSpanMs: number;
}

export interface Survey {
  readonly nowMs: number;
  /** Where the next slice begins; '0' after the last. */
  readonly cursor: string;
  /** Of the queue as a whole, as of a tenant. */
  readonly ratePerSecond: number | null;
  readonly rateSpanMs: number;
  readonly tenants: TenantReading[];
}

/** What was kept of a tenant, and what its lists and leases say; -1 stands for an entry that is not there. */
export interface SweepDifference {
  /** Null = the queue's own sums. */
  readonly tenant: string | null;
  readonly counter: string;
  readonly kept: number;
  readonly counted: number;
}

export interface SweepOutcome {
  readonly nowMs: number;
  /** Tenants that were looked at; of those named, some may be gone. */
  readonly tenants: number;
  /** Differences that all sweeps of this Redis have found and put right so far. */
  readonly repaired: number;
  readonly differences: SweepDifference[];
}

export interface TenantPage {
  readonly tenants: TenantView[];
  readonly next: string | null;
}

export type SubscribeOutcome =
  | { readonly outcome: 'subscribed'; readonly dispatch: boolean }
  | { readonly outcome: 'unknown_plan'; readonly plans: string[] }
  /** The record is not the one that the caller has seen; nothing changed. */
  | { readonly outcome: 'changed'; readonly etag: string };

export interface PurgeReceipt {
  readonly ready: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly dead: number;
}
