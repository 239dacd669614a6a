import type { QueueConfig } from '../../config/queue-config.ts';

/**
 * What the model of a queue knows: plain values, no clock and no identities of its own. Times are milliseconds on the
 * clock that the caller passes in, names of jobs and leases come from the caller too, so that a model and a Redis can be
 * led through the same history.
 */

export interface Limits {
  /** Relative share of service, > 0. */
  readonly weight: number;
  /** Most jobs waiting (ready and delayed) that an enqueue may lead to. */
  readonly maxDepth: number;
  /** Most lanes that the tenant's visits in flight may hold together; 0 = it is not served. */
  readonly maxConcurrency: number;
  /** Most bytes of payloads waiting; null = no limit. */
  readonly maxBytes: number | null;
  /** Jobs served for the first time, a second; null = no limit. */
  readonly maxJobsPerSecond: number | null;
  /** How many of them may come at once. */
  readonly burst: number;
}

/** The bounds by which the queue works. The plans say each tenant's maxConcurrency. */
export type ModelConfig = Omit<QueueConfig, 'maxConcurrency'>;

export interface TenantRecord {
  readonly plan?: string | undefined;
  readonly weight?: number | undefined;
  readonly maxDepth?: number | undefined;
  readonly maxConcurrency?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxJobsPerSecond?: number | undefined;
  readonly burst?: number | undefined;
}

export interface ModelJob {
  readonly id: string;
  readonly cost: number;
  readonly route: number;
  readonly maxAttempts: number;
  /** Size of the body, for the bound on a visit's bytes. */
  readonly bytes: number;
  readonly enqueuedAtMs: number;
  /** Its place among all that were pushed; a delayed job gets a new one when it becomes ready. */
  sequence: number;
  attempts: number;
  readySinceMs: number;
  /** It was in a visit that died, and is visited without company until it has come through one. */
  alone: boolean;
  /** It failed before: when it is due it goes before the backlog. */
  retry: boolean;
}

interface DelayedJob {
  readonly dueMs: number;
  readonly job: ModelJob;
}

export interface ModelTenant {
  readonly name: string;
  /** First in, first out. */
  readonly ready: ModelJob[];
  /** What came back, by sequence; served before `ready`. */
  readonly returned: ModelJob[];
  /** By due time, then sequence. */
  readonly delayed: DelayedJob[];
  /** Newest first. */
  readonly dead: ModelJob[];
  turn: number;
  /** The busy period that `turn` belongs to. */
  epoch: number;
  /** Sequence of its latest entry or visit while it is in the rotation, else 0. */
  position: number;
  /** The weight its turn was last reckoned with; null before the first enqueue. */
  weight: number | null;
  paused: boolean;
  /** At maxConcurrency, as of the last look. */
  capped: boolean;
  /** Without the tokens that its rate asks for, as of the last look. */
  limited: boolean;
  /** What its meter held at a time: jobs served for the first time, less what has drained. */
  level: number;
  levelAtMs: number;
  backoffUntilMs: number | null;
  /** When a tick looks whether it is still held. Not taken back when it is let in earlier: the look then finds nothing. */
  lookAgainAtMs: number | null;
  claimPlan: string | undefined;
  record: TenantRecord;
  /** Invokes refused in a row. */
  refused: number;
  p95Ms: number | null;
  meanMs: number | null;
  workedMs: number;
  served: number;
  done: number;
  failed: number;
  enqueued: number;
  purgeAtMs: number | null;
}

export interface ModelLease {
  readonly leaseId: string;
  readonly token: string;
  /** The token of the visit that the lease went on from. */
  readonly previousToken: string | null;
  readonly tenant: string;
  /** Weight and busy period of the charge, for a refund. */
  readonly weight: number;
  readonly epoch: number;
  readonly lanes: number;
  /** 1 for the lease's first visit. */
  readonly visit: number;
  /** In order; a settled job leaves null. Results name them by index, counted from 1. */
  readonly jobs: (ModelJob | null)[];
  /** Invokes refused in a row, as of the claim. */
  readonly refusedAtClaim: number;
  /** Who opened it; null = unopened. */
  nonce: string | null;
  /** When it lapses (unopened) or expires (opened). */
  endsAtMs: number;
}

interface OnceAnswer {
  readonly digest: string;
  readonly ids: string[];
  readonly depth: number;
  readonly expiresAtMs: number;
}

export interface Model {
  config: ModelConfig;
  paused: boolean;
  /** The operator's, in the place of the configuration's; null = none. */
  capacity: number | null;
  virtualClock: number;
  epoch: number;
  sequence: number;
  readonly tenants: Map<string, ModelTenant>;
  readonly leases: Map<string, ModelLease>;
  /** Answers to enqueues that may be asked again, by tenant and key. */
  readonly once: Map<string, Map<string, OnceAnswer>>;
  readonly counted: {
    enqueued: number;
    served: number;
    done: number;
    failed: number;
    died: number;
    dropped: number;
    late: number;
    crashed: number;
    lapsed: number;
  };
}

export function createModel(config: ModelConfig): Model {
  return {
    config,
    paused: false,
    capacity: null,
    virtualClock: 0,
    epoch: 1,
    sequence: 0,
    tenants: new Map(),
    leases: new Map(),
    once: new Map(),
    counted: { enqueued: 0, served: 0, done: 0, failed: 0, died: 0, dropped: 0, late: 0, crashed: 0, lapsed: 0 },
  };
}

/** Most visits in flight. */
export const capacityOf = (model: Model): number => model.capacity ?? model.config.capacity;

/** The tenant's state, made when it is met for the first time. */
export function tenantOf(model: Model, name: string): ModelTenant {
  const known = model.tenants.get(name);
  if (known) return known;
  const tenant: ModelTenant = {
    name,
    ready: [],
    returned: [],
    delayed: [],
    dead: [],
    turn: 0,
    epoch: 0,
    position: 0,
    weight: null,
    paused: false,
    capped: false,
    limited: false,
    level: 0,
    levelAtMs: 0,
    backoffUntilMs: null,
    lookAgainAtMs: null,
    claimPlan: undefined,
    record: {},
    refused: 0,
    p95Ms: null,
    meanMs: null,
    workedMs: 0,
    served: 0,
    done: 0,
    failed: 0,
    enqueued: 0,
    purgeAtMs: null,
  };
  model.tenants.set(name, tenant);
  return tenant;
}

export function readyCount(tenant: ModelTenant): number {
  return tenant.ready.length + tenant.returned.length;
}

/** Jobs waiting: ready and delayed. */
export function depthOf(tenant: ModelTenant): number {
  return readyCount(tenant) + tenant.delayed.length;
}

export function leasesOf(model: Model, tenant: ModelTenant): ModelLease[] {
  return [...model.leases.values()].filter((lease) => lease.tenant === tenant.name);
}

export function lanesOf(model: Model, tenant: ModelTenant): number {
  return leasesOf(model, tenant).reduce((sum, lease) => sum + lease.lanes, 0);
}

export function flightOf(model: Model, tenant: ModelTenant): number {
  return leasesOf(model, tenant).reduce((sum, lease) => sum + unsettled(lease).length, 0);
}

/** Jobs of the visit without a result, in index order. */
export function unsettled(lease: ModelLease): ModelJob[] {
  return lease.jobs.filter((job) => job !== null);
}

/** The limits in force: an override, else those of the first plan that the configuration knows. */
export function limitsOf(config: ModelConfig, tenant: Pick<ModelTenant, 'record' | 'claimPlan'>): Limits {
  const { record, claimPlan } = tenant;
  const known = [record.plan, claimPlan, config.defaultPlan].find((plan) => plan !== undefined && plan in config.plans);
  const plan = config.plans[known ?? ''];
  if (!plan) throw new RangeError(`The default plan ${config.defaultPlan} is not among the plans of the configuration`);
  const maxJobsPerSecond = record.maxJobsPerSecond ?? plan.maxJobsPerSecond ?? null;
  return {
    weight: record.weight ?? plan.weight,
    maxDepth: record.maxDepth ?? plan.maxDepth,
    maxConcurrency: record.maxConcurrency ?? plan.maxConcurrency,
    maxBytes: record.maxBytes ?? plan.maxBytes ?? null,
    maxJobsPerSecond,
    burst: record.burst ?? plan.burst ?? Math.max(1, Math.ceil(maxJobsPerSecond ?? 1)),
  };
}
