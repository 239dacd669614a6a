/** The namespace of all metrics. */
export const NAMESPACE = 'Rota';

/** The dimension that tells queues of one account apart; every metric has it. */
export const QUEUE_DIMENSION = 'queue';

/** The second dimension of the metrics of a tenant: its label, or `OTHER` for all that are not among the top. */
export const TENANT_DIMENSION = 'tenant';

/** The label of all tenants together that have none of their own. A tenant of that very name is labelled otherwise. */
export const OTHER = 'other';

/** Tenants with a label of their own: half by depth, half by the age of their oldest job. */
export const TOP_TENANTS = 20;

type MetricUnit = 'Count' | 'Seconds' | 'Bytes' | 'None';

/** A metric as it is stated. */
export interface Stated {
  readonly name: string;
  readonly unit: MetricUnit;
  readonly meaning: string;
  /** In `GET /v1/metrics`; a counter there if it ends in `_total`, else a gauge. Absent where only log lines tell of it. */
  readonly openMetrics?: string;
}

/** What `monitor` emits about the queue once a minute, with the dimension `queue`. Counts are since the last reading. */
export const queueMetrics = {
  depth: { name: 'Depth', openMetrics: 'rota_queue_depth', unit: 'Count', meaning: 'Jobs waiting, ready or delayed' },
  bytes: {
    name: 'WaitingBytes',
    openMetrics: 'rota_waiting_bytes',
    unit: 'Bytes',
    meaning: 'Payload bytes of the waiting jobs',
  },
  inFlight: {
    name: 'InFlight',
    openMetrics: 'rota_in_flight',
    unit: 'Count',
    meaning: 'Jobs leased and not yet settled',
  },
  dead: { name: 'DeadLetters', openMetrics: 'rota_dead_letters', unit: 'Count', meaning: 'Dead letters kept' },
  oldestAge: {
    name: 'OldestAge',
    openMetrics: 'rota_oldest_job_age_seconds',
    unit: 'Seconds',
    meaning: 'How long the longest waiting ready job has been ready',
  },
  activeTenants: {
    name: 'ActiveTenants',
    openMetrics: 'rota_active_tenants',
    unit: 'Count',
    meaning: 'Tenants with waiting jobs',
  },
  servableTenants: {
    name: 'ServableTenants',
    openMetrics: 'rota_servable_tenants',
    unit: 'Count',
    meaning: 'Tenants in the rotation, which are served as soon as a slot is free; 0 while the queue is paused',
  },
  starvedTenants: {
    name: 'StarvedTenants',
    openMetrics: 'rota_starved_tenants',
    unit: 'Count',
    meaning:
      'Tenants with a small backlog whose oldest job has been ready for too long, though nothing of their own holds them',
  },
  capacity: {
    name: 'Capacity',
    openMetrics: 'rota_capacity',
    unit: 'Count',
    meaning: 'Visits that may be in flight at once',
  },
  capacityUsed: { name: 'CapacityUsed', openMetrics: 'rota_capacity_used', unit: 'Count', meaning: 'Visits in flight' },
  dispatcherAlive: {
    name: 'DispatcherAlive',
    openMetrics: 'rota_dispatcher_alive',
    unit: 'Count',
    meaning: '1 while a dispatcher shows its mark of life',
  },
  enqueued: { name: 'Enqueued', openMetrics: 'rota_jobs_enqueued_total', unit: 'Count', meaning: 'Jobs admitted' },
  served: {
    name: 'Served',
    openMetrics: 'rota_jobs_served_total',
    unit: 'Count',
    meaning: 'Jobs taken by visits, less those given back',
  },
  done: { name: 'Done', openMetrics: 'rota_jobs_done_total', unit: 'Count', meaning: 'Jobs done' },
  failed: { name: 'Failed', openMetrics: 'rota_runs_failed_total', unit: 'Count', meaning: 'Runs that failed' },
  died: { name: 'Died', openMetrics: 'rota_jobs_died_total', unit: 'Count', meaning: 'Jobs that became dead letters' },
  dropped: {
    name: 'DeadLettersDropped',
    openMetrics: 'rota_dead_letters_dropped_total',
    unit: 'Count',
    meaning: 'Dead letters dropped for newer ones',
  },
  late: {
    name: 'LateSettles',
    openMetrics: 'rota_late_settles_total',
    unit: 'Count',
    meaning: 'Results ignored, for their lease had ended',
  },
  fairnessError: {
    name: 'FairnessError',
    openMetrics: 'rota_fairness_error',
    unit: 'None',
    meaning: 'Largest difference between realised and entitled share among the backlogged tenants, 0 to 1',
  },
  sweepDifferences: {
    name: 'SweepDifferences',
    openMetrics: 'rota_sweep_differences_total',
    unit: 'Count',
    meaning: 'Counters that the sweep found to differ from the lists and leases they count',
  },
} as const satisfies Record<string, Stated>;

/** What `monitor` emits about a top tenant, and about all others together, with the dimensions `queue` and `tenant`. */
export const tenantMetrics = {
  served: {
    name: 'TenantServed',
    openMetrics: 'jobs_served_total',
    unit: 'Count',
    meaning: 'Jobs of the tenant taken by visits, less those given back',
  },
  depth: {
    name: 'TenantDepth',
    openMetrics: 'tenant_queue_depth',
    unit: 'Count',
    meaning: 'Jobs of the tenant waiting',
  },
  oldestAge: {
    name: 'TenantOldestAge',
    openMetrics: 'tenant_oldest_job_age_seconds',
    unit: 'Seconds',
    meaning: "How long the tenant's oldest ready job has been ready",
  },
  inFlight: {
    name: 'TenantInFlight',
    openMetrics: 'tenant_in_flight',
    unit: 'Count',
    meaning: 'Jobs of the tenant leased and not yet settled',
  },
  realisedShare: {
    name: 'RealisedShare',
    openMetrics: 'tenant_realised_share',
    unit: 'None',
    meaning: 'Part of all service that the tenant had, 0 to 1',
  },
  entitledShare: {
    name: 'EntitledShare',
    openMetrics: 'tenant_entitled_share',
    unit: 'None',
    meaning: 'Part of all service that the tenant was entitled to (max-min fair by weight), 0 to 1',
  },
} as const satisfies Record<string, Stated>;

/** What the other functions emit as things happen, with the dimension `queue`, in the log line that tells of it in full. */
export const eventMetrics = {
  rejected: { name: 'Rejected', unit: 'Count', meaning: 'Jobs refused at a cap (emitted by enqueue)' },
  dispatchLatency: {
    name: 'DispatchLatency',
    unit: 'Seconds',
    meaning: 'From ready to start, one value for each job started (emitted by process, in the line of the visit)',
  },
} as const satisfies Record<string, Stated>;

export type QueueMetric = keyof typeof queueMetrics;
export type TenantMetric = keyof typeof tenantMetrics;

/** When the reading was made, in `GET /v1/metrics`: it tells whether `monitor` still runs. */
export const READING_TIMESTAMP = {
  meaning: 'When the values were read from the queue, in Unix time',
  openMetrics: 'rota_reading_timestamp_seconds',
} as const;

/** The keys of one of the tables, in its order. */
export const metricsOf = <Table extends object>(table: Table): (keyof Table)[] =>
  // The tables are constants: they have no other keys than their types say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.keys(table) as (keyof Table)[];
