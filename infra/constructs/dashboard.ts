import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import { eventMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import type { Alarms } from './alarms.ts';
import type { FunctionName } from './functions.ts';
import type { QueueMetrics } from './metrics.ts';
import type { QueueNames } from './names.ts';

interface DashboardProps {
  readonly settings: Pick<Settings, 'durability'>;
  readonly names: QueueNames;
  readonly metrics: QueueMetrics;
  readonly alarms: Alarms;
}

/** Columns of the grid of a dashboard. */
const COLUMNS = 24;
const ROW_HEIGHT = 6;
const SHARE_HEIGHT = 9;

const FUNCTIONS: readonly FunctionName[] = ['enqueue', 'dispatch', 'process', 'monitor', 'tenants'];

/** From 0, so that a small change is not drawn as a cliff. */
const FROM_ZERO: cloudwatch.YAxisProps = { min: 0, showUnits: false };

interface Graph {
  readonly title: string;
  readonly left: cloudwatch.IMetric[];
  readonly right?: cloudwatch.IMetric[];
  readonly unit: string;
  readonly rightUnit?: string;
}

/**
 * The dashboard of a queue. From above: is anything wrong, does each tenant get its share, who waits and for how long, what
 * goes through, and then what it runs on: API, functions, cache.
 */
export class QueueDashboard extends Construct {
  readonly dashboard: cloudwatch.Dashboard;

  constructor(scope: Construct, id: string, { settings, names, metrics, alarms }: DashboardProps) {
    super(scope, id);
    const { queue, event, tenants, lambda, cache, api } = metrics;
    const each = (metric: string, statistic: 'Sum' | 'Maximum' | 'p95') =>
      FUNCTIONS.map((name) => lambda(name, metric, statistic));
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      // Dashboards are known by name in all regions of an account at once.
      dashboardName: `rota-${names.full}-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
    });
    this.dashboard.addWidgets(
      new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms.all], width: COLUMNS, height: 3 }),
    );
    this.dashboard.addWidgets(
      graph(2 / 3, SHARE_HEIGHT, {
        title: 'Share of service by tenant: realised beside entitled',
        left: [tenants('realisedShare'), tenants('entitledShare', { label: ' entitled' })],
        unit: '0 to 1',
      }),
      graph(1 / 3, SHARE_HEIGHT, {
        title: 'Fairness',
        left: [queue('fairnessError')],
        unit: 'largest difference of shares',
        right: [queue('starvedTenants'), queue('activeTenants'), queue('servableTenants')],
        rightUnit: 'tenants',
      }),
    );
    this.row([
      { title: 'Depth by tenant', left: [tenants('depth')], unit: 'jobs' },
      { title: 'Oldest ready job by tenant', left: [tenants('oldestAge')], unit: 's' },
      {
        title: 'From ready to start',
        left: (['p50', 'p95', 'p99'] as const).map((statistic) => event(eventMetrics.dispatchLatency, statistic)),
        unit: 's',
      },
    ]);
    this.row([
      { title: 'Served by tenant', left: [tenants('served', { statistic: 'Sum' })], unit: 'jobs a minute' },
      { title: 'In flight by tenant', left: [tenants('inFlight')], unit: 'jobs' },
      {
        title: 'Capacity',
        left: [queue('capacityUsed'), queue('capacity')],
        unit: 'visits',
        right: [queue('dispatcherAlive')],
        rightUnit: 'dispatcher',
      },
    ]);
    this.row([
      {
        title: 'Jobs through the queue',
        left: [queue('enqueued', 'Sum'), queue('served', 'Sum'), queue('done', 'Sum')],
        unit: 'jobs a minute',
      },
      {
        title: 'Refused and failed',
        left: [
          event(eventMetrics.rejected, 'Sum'),
          queue('failed', 'Sum'),
          queue('died', 'Sum'),
          queue('dropped', 'Sum'),
        ],
        unit: 'jobs a minute',
        right: [queue('late', 'Sum'), queue('sweepDifferences', 'Sum')],
        rightUnit: 'corrections',
      },
      {
        title: 'In the queue',
        left: [queue('depth'), queue('inFlight'), queue('dead')],
        unit: 'jobs',
        right: [queue('oldestAge')],
        rightUnit: 'oldest, s',
      },
    ]);
    this.row([
      { title: 'API requests', left: [api('Count'), api('4xx'), api('5xx')], unit: 'a minute' },
      { title: 'API latency', left: [api('Latency', 'p50'), api('Latency', 'p99')], unit: 'ms' },
      {
        title: 'Visits waiting in Lambda',
        left: [lambda('process', 'AsyncEventAge', 'Maximum')],
        unit: 'ms',
        right: [lambda('process', 'AsyncEventsDropped', 'Sum')],
        rightUnit: 'dropped',
      },
    ]);
    this.row([
      { title: 'Function errors', left: each('Errors', 'Sum'), unit: 'a minute' },
      { title: 'Function throttles', left: each('Throttles', 'Sum'), unit: 'a minute' },
      { title: 'Function duration, p95', left: each('Duration', 'p95'), unit: 'ms' },
      { title: 'Function concurrency', left: each('ConcurrentExecutions', 'Maximum'), unit: 'environments' },
    ]);
    this.row([
      { title: 'Cache: engine CPU', left: [cache('EngineCPUUtilization')], unit: '%' },
      {
        title: 'Cache: memory',
        left: [cache('DatabaseMemoryUsagePercentage')],
        unit: '%',
        right: [queue('bytes')],
        rightUnit: 'bytes waiting',
      },
      { title: 'Cache: connections', left: [cache('CurrConnections')], unit: 'connections' },
      ...(settings.durability === 'async'
        ? [{ title: 'Cache: lag of the write log', left: [cache('DurabilityLag')], unit: 'ms' }]
        : []),
    ]);
  }

  /** Graphs side by side, as wide as the dashboard together. */
  private row(graphs: readonly Graph[]): void {
    this.dashboard.addWidgets(...graphs.map((each) => graph(1 / graphs.length, ROW_HEIGHT, each)));
  }
}

function graph(part: number, height: number, { title, left, right = [], unit, rightUnit }: Graph): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({
    title,
    left,
    right,
    width: COLUMNS * part,
    height,
    leftYAxis: { ...FROM_ZERO, label: unit },
    rightYAxis: { ...FROM_ZERO, ...(rightUnit !== undefined && { label: rightUnit }) },
    liveData: false,
    period: Duration.minutes(1),
  });
}
