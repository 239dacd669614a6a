import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Settings } from '../../functions/lib/config/table.ts';
import {
  type eventMetrics,
  NAMESPACE,
  QUEUE_DIMENSION,
  type QueueMetric,
  queueMetrics,
  TENANT_DIMENSION,
  type TenantMetric,
  tenantMetrics,
} from '../../functions/lib/telemetry/metric-names.ts';
import type { Api } from './api.ts';
import type { Cache } from './cache.ts';
import type { FunctionName, Functions } from './functions.ts';
import type { QueueNames } from './names.ts';

interface QueueMetricsProps {
  readonly settings: Pick<Settings, 'replicas'>;
  readonly names: QueueNames;
  readonly functions: Functions;
  readonly cache: Cache;
  readonly api: Api;
}

type Statistic = 'Sum' | 'Maximum' | 'Minimum' | 'Average' | 'p50' | 'p95' | 'p99';

const MINUTE = Duration.minutes(1);

/** `FairnessError` → `Fairness error` */
const words = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** The metrics of a queue and of what it runs on, minute by minute, for alarms and dashboards, the user's own included. */
export class QueueMetrics {
  private readonly props: QueueMetricsProps;

  constructor(props: QueueMetricsProps) {
    this.props = props;
  }

  /** What monitor tells of the queue. A gauge told twice counts once, hence the maximum. */
  readonly queue = (metric: QueueMetric, statistic: Statistic = 'Maximum'): cloudwatch.Metric =>
    this.own(queueMetrics[metric].name, statistic, words(queueMetrics[metric].name));

  /** What the other functions tell as it happens. */
  readonly event = (metric: (typeof eventMetrics)[keyof typeof eventMetrics], statistic: Statistic) =>
    this.own(metric.name, statistic, statistic === 'Sum' ? words(metric.name) : statistic);

  /** A metric of every tenant that has a label, under that label. */
  readonly tenants = (metric: TenantMetric, { label = '', statistic = 'Maximum' } = {}): cloudwatch.MathExpression =>
    new cloudwatch.MathExpression({
      expression: `SEARCH('{${NAMESPACE},${QUEUE_DIMENSION},${TENANT_DIMENSION}} ${QUEUE_DIMENSION}="${this.props.names.full}" MetricName="${tenantMetrics[metric].name}"', '${statistic}', 60)`,
      label: `\${PROP('Dim.${TENANT_DIMENSION}')}${label}`,
      period: MINUTE,
    });

  readonly lambda = (name: FunctionName, metric: string, statistic: Statistic): cloudwatch.Metric =>
    new cloudwatch.Metric({
      namespace: 'AWS/Lambda',
      metricName: metric,
      dimensionsMap: { FunctionName: this.props.functions[name].functionName },
      statistic,
      label: name,
      period: MINUTE,
    });

  readonly api = (metric: string, statistic: Statistic = 'Sum'): cloudwatch.Metric =>
    new cloudwatch.Metric({
      namespace: 'AWS/ApiGateway',
      metricName: metric,
      dimensionsMap: { ApiId: this.props.api.httpApi.apiId },
      statistic,
      label: statistic === 'Sum' ? metric : statistic,
      period: MINUTE,
    });

  /**
   * The highest of all nodes. Which one is the primary changes with a failover, and only the first `replicas` + 1 are there:
   * at most six, of the ten that an alarm may add up.
   */
  readonly cache = (metric: string, statistic: Statistic = 'Maximum'): cloudwatch.MathExpression => {
    const nodes = Array.from({ length: this.props.settings.replicas + 1 }, (_, i) => i + 1);
    return new cloudwatch.MathExpression({
      expression: `MAX([${nodes.map((node) => `${metric.toLowerCase()}${node}`).join(',')}])`,
      usingMetrics: Object.fromEntries(
        nodes.map((node) => [
          `${metric.toLowerCase()}${node}`,
          new cloudwatch.Metric({
            namespace: 'AWS/ElastiCache',
            metricName: metric,
            dimensionsMap: { CacheClusterId: this.props.cache.nodeId(node) },
            statistic,
            period: MINUTE,
          }),
        ]),
      ),
      label: words(metric),
      period: MINUTE,
    });
  };

  private own(metricName: string, statistic: Statistic, label: string): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: NAMESPACE,
      metricName,
      dimensionsMap: { [QUEUE_DIMENSION]: this.props.names.full },
      statistic,
      label,
      period: MINUTE,
    });
  }
}
