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

interface Stated {
  readonly name: string;
  readonly unit: MetricUnit;
  readonly meaning: string;
}

/** What `monitor` emits about the queue once a minute, with the dimension `queue`. Counts are since the last reading. */
export const queueMetrics = {
  depth: { name: 'Depth', unit: 'Count', meaning: 'Jobs waiting, ready or delayed' },
  bytes: { name: 'WaitingBytes', unit: 'Bytes', meaning: 'Payload bytes of the waiting jobs' },
  inFlight: { name: 'InFlight', unit: 'Count', meaning: 'Jobs leased and not yet settled' },
  dead: { name: 'DeadLetters', unit: 'Count', meaning: 'Dead letters kept' },
  oldestAge: { name: 'OldestAge', unit: 'Seconds', meaning: 'How long the longest waiting ready job has been ready' },
  activeTenants: { name: 'ActiveTenants', unit: 'Count', meaning: 'Tenants with waiting jobs' },
  servableTenants: {
    name: 'ServableTenants',
    unit: 'Count',
    meaning: 'Tenants in the rotation, which are served as soon as a slot is free; 0 while the queue is paused',
  },
  starvedTenants: {
    name: 'StarvedTenants',
    unit: 'Count',
    meaning:
      'Tenants with a small backlog whose oldest job has been ready for too long, though nothing of their own holds them',
  },
  capacity: { name: 'Capacity', unit: 'Count', meaning: 'Visits that may be in flight at once' },
  capacityUsed: { name: 'CapacityUsed', unit: 'Count', meaning: 'Visits in flight' },
  dispatcherAlive: { name: 'DispatcherAlive', unit: 'Count', meaning: '1 while a dispatcher shows its mark of life' },
  enqueued: { name: 'Enqueued', unit: 'Count', meaning: 'Jobs admitted' },
  served: { name: 'Served', unit: 'Count', meaning: 'Jobs taken by visits, less those given back' },
  done: { name: 'Done', unit: 'Count', meaning: 'Jobs done' },
  failed: { name: 'Failed', unit: 'Count', meaning: 'Runs that failed' },
  died: { name: 'Died', unit: 'Count', meaning: 'Jobs that became dead letters' },
  late: { name: 'LateSettles', unit: 'Count', meaning: 'Results ignored, for their lease had ended' },
  fairnessError: {
    name: 'FairnessError',
    unit: 'None',
    meaning: 'Largest difference between realised and entitled share among the backlogged tenants, 0 to 1',
  },
  sweepDifferences: {
    name: 'SweepDifferences',
    unit: 'Count',
    meaning: 'Counters that the sweep found to differ from the lists and leases they count',
  },
} as const satisfies Record<string, Stated>;

/** What `monitor` emits about a top tenant, and about all others together, with the dimensions `queue` and `tenant`. */
export const tenantMetrics = {
  served: { name: 'TenantServed', unit: 'Count', meaning: 'Jobs of the tenant taken by visits, less those given back' },
  depth: { name: 'TenantDepth', unit: 'Count', meaning: 'Jobs of the tenant waiting' },
  oldestAge: {
    name: 'TenantOldestAge',
    unit: 'Seconds',
    meaning: "How long the tenant's oldest ready job has been ready",
  },
  inFlight: { name: 'TenantInFlight', unit: 'Count', meaning: 'Jobs of the tenant leased and not yet settled' },
  realisedShare: { name: 'RealisedShare', unit: 'None', meaning: 'Part of all service that the tenant had, 0 to 1' },
  entitledShare: {
    name: 'EntitledShare',
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
