/** The namespace of all metrics. */
export const NAMESPACE = 'Rota';

/** The dimension that tells queues of one account apart. */
export const QUEUE_DIMENSION = 'queue';

export type MetricUnit = 'Count' | 'Seconds';

/** Every metric that `monitor` emits, once a minute. The dashboard and the alarms take the names from here. */
export const metrics = {
  depth: { name: 'Depth', unit: 'Count', meaning: 'Jobs waiting, ready or delayed' },
  inFlight: { name: 'InFlight', unit: 'Count', meaning: 'Jobs leased and not yet settled' },
  dead: { name: 'DeadLetters', unit: 'Count', meaning: 'Dead letters kept' },
  oldestAge: { name: 'OldestAge', unit: 'Seconds', meaning: 'How long the longest waiting ready job has waited' },
  waitingTenants: { name: 'WaitingTenants', unit: 'Count', meaning: 'Tenants with waiting jobs' },
  capacity: { name: 'Capacity', unit: 'Count', meaning: 'Visits that may be in flight at once' },
  capacityUsed: { name: 'CapacityUsed', unit: 'Count', meaning: 'Visits in flight' },
  dispatcherAlive: { name: 'DispatcherAlive', unit: 'Count', meaning: '1 while a dispatcher shows its mark of life' },
  enqueued: { name: 'Enqueued', unit: 'Count', meaning: 'Jobs admitted since the last reading' },
  served: {
    name: 'Served',
    unit: 'Count',
    meaning: 'Jobs taken by visits since the last reading, less those given back',
  },
  done: { name: 'Done', unit: 'Count', meaning: 'Jobs done since the last reading' },
  failed: { name: 'Failed', unit: 'Count', meaning: 'Runs that failed since the last reading' },
  died: { name: 'Died', unit: 'Count', meaning: 'Jobs that became dead letters since the last reading' },
  late: {
    name: 'LateSettles',
    unit: 'Count',
    meaning: 'Results ignored since the last reading, for their lease had ended',
  },
} as const satisfies Record<string, { name: string; unit: MetricUnit; meaning: string }>;

export type Metric = keyof typeof metrics;
