import { Duration, Stack, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import type { QueueMetrics } from './metrics.ts';
import type { QueueNames } from './names.ts';

interface AlarmsProps {
  readonly settings: Pick<Settings, 'queue' | 'openSeconds' | 'durability' | 'alarmEmail' | 'runbookUrl'>;
  readonly names: QueueNames;
  readonly metrics: QueueMetrics;
  /** @default a topic is made */
  readonly topic?: sns.ITopic;
}

/** Lambda counts the age of events in ms, ElastiCache its lag too. */
const MS = 1_000;

/** Of the memory that the node has for data. Above it a burst of one minute can fill a small node. */
const MEMORY_PERCENT = 80;

/** Scripts run in one thread: near its limit every call waits for those before it. */
const ENGINE_CPU_PERCENT = 80;

/** One failed request in a hundred is more than a retry hides. */
const API_ERROR_PERCENT = 1;

/** At 10 s of lag the cache refuses all writes; at half of it there is still time to look. */
const DURABILITY_LAG_MS = 5_000;

const { MISSING, NOT_BREACHING } = cloudwatch.TreatMissingData;

interface Spec {
  readonly metric: cloudwatch.IMetric;
  /** What it does to the users of the queue, in one sentence. */
  readonly means: string;
  readonly above: number;
  /** Minutes that are looked at, and how many of them must breach; all, if it is not said. */
  readonly minutes: number;
  readonly breaching?: number;
  readonly missing: cloudwatch.TreatMissingData;
  /** Tells also when the data stops coming. */
  readonly tellsSilence?: boolean;
}

/** What wakes somebody up, and the topic that tells them. Each has its heading in the runbook. */
export class Alarms extends Construct {
  readonly topic: sns.ITopic;
  readonly all: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, { settings, names, metrics, topic }: AlarmsProps) {
    super(scope, id);
    this.topic = topic ?? this.makeTopic();
    if (settings.alarmEmail !== '') {
      const subscription = this.topic.addSubscription(new EmailSubscription(settings.alarmEmail));
      Validations.of(subscription).acknowledge({
        id: 'Serverless-SNSRedrivePolicy',
        reason:
          'A mail is handed to a mail server, which tries for days; the alarm itself stands in CloudWatch all the while.',
      });
    }
    const action = new SnsAction(this.topic);
    this.all = Object.entries(specsOf(settings, metrics)).map(([name, spec]) => {
      const alarm = new cloudwatch.Alarm(this, name, {
        alarmName: `rota-${names.full}-${name}`,
        alarmDescription: `${spec.means} Look up: ${settings.runbookUrl}#${name.toLowerCase()}`,
        metric: spec.metric,
        comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
        threshold: spec.above,
        evaluationPeriods: spec.minutes,
        datapointsToAlarm: spec.breaching ?? spec.minutes,
        treatMissingData: spec.missing,
      });
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      if (spec.tellsSilence) alarm.addInsufficientDataAction(action);
      return alarm;
    });
  }

  private makeTopic(): sns.Topic {
    const topic = new sns.Topic(this, 'Topic', { enforceSSL: true });
    // A topic with a policy of its own loses the standard one, by which alarms of the account may publish.
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }
}

function specsOf(
  { openSeconds, durability }: AlarmsProps['settings'],
  metrics: QueueMetrics,
): Readonly<Record<string, Spec>> {
  const { queue, lambda, cache, api } = metrics;
  return {
    // Its ten minutes are the guide's. Without data nobody is known to starve; that the data stops is told by DispatcherSilent.
    TenantStarved: {
      metric: queue('starvedTenants'),
      means: 'A tenant with few jobs has waited for more than 15 minutes, though nothing of its own holds it back.',
      above: 0,
      minutes: 10,
      missing: NOT_BREACHING,
    },
    // Monitor tells of every minute: data that stops is a monitor that is dead, which is told as well.
    DispatcherSilent: {
      metric: new cloudwatch.MathExpression({
        // With every slot at work on long jobs nothing is served and all is well, as long as a dispatcher lives: a dead one
        // leaves slots that look taken.
        expression: 'IF(servable > 0 AND served <= 0 AND (used < capacity OR alive < 1), 1, 0)',
        usingMetrics: {
          servable: queue('servableTenants', 'Minimum'),
          served: queue('served', 'Sum'),
          used: queue('capacityUsed'),
          capacity: queue('capacity'),
          alive: queue('dispatcherAlive'),
        },
        label: 'Jobs could be served, none was',
        period: Duration.minutes(1),
      }),
      means: 'Jobs wait that could be served, and none has been served for 5 minutes.',
      above: 0,
      minutes: 5,
      missing: MISSING,
      tellsSilence: true,
    },
    DeadLetters: {
      metric: queue('died', 'Sum'),
      means: 'A job failed for the last time and became a dead letter.',
      above: 0,
      minutes: 5,
      breaching: 1,
      missing: NOT_BREACHING,
    },
    DeadLettersDropped: {
      metric: queue('dropped', 'Sum'),
      means: 'A tenant has more dead letters than are kept, and the oldest were dropped: those jobs are lost.',
      above: 0,
      minutes: 5,
      breaching: 1,
      missing: NOT_BREACHING,
    },
    SweepDifference: {
      metric: queue('sweepDifferences', 'Sum'),
      means:
        'A counter did not agree with what it counts; it was corrected, but shares and caps were wrong until then.',
      above: 0,
      minutes: 5,
      breaching: 1,
      missing: NOT_BREACHING,
    },
    RedisMemory: {
      metric: cache('DatabaseMemoryUsagePercentage'),
      means: 'Memory of the cache runs out; when it is full, no job is taken any more (503).',
      above: MEMORY_PERCENT,
      minutes: 5,
      missing: MISSING,
    },
    RedisEngineCPU: {
      metric: cache('EngineCPUUtilization'),
      means: 'The cache is near its limit: every call waits, and throughput stops growing.',
      above: ENGINE_CPU_PERCENT,
      minutes: 5,
      missing: MISSING,
    },
    // No request is no error.
    ApiErrors: {
      metric: new cloudwatch.MathExpression({
        expression: 'IF(requests > 0, 100 * errors / requests, 0)',
        usingMetrics: { requests: api('Count'), errors: api('5xx') },
        label: 'Requests answered with 5xx (%)',
        period: Duration.minutes(1),
      }),
      means: 'Producers or operators get errors that are not theirs.',
      above: API_ERROR_PERCENT,
      minutes: 5,
      breaching: 3,
      missing: NOT_BREACHING,
    },
    // At the lease's openSeconds the jobs of such an event go back to the queue, and the event comes for nothing.
    AsyncEventAge: {
      metric: lambda('process', 'AsyncEventAge', 'Maximum'),
      means: 'Visits wait in Lambda before they start: its concurrency is below the capacity of the queue.',
      above: (openSeconds / 2) * MS,
      minutes: 5,
      breaching: 3,
      missing: NOT_BREACHING,
    },
    AsyncEventsDropped: {
      metric: lambda('process', 'AsyncEventsDropped', 'Sum'),
      means: 'Lambda dropped visits; their jobs go back to the queue late.',
      above: 0,
      minutes: 5,
      breaching: 1,
      missing: NOT_BREACHING,
    },
    // By `sync` a write is only acknowledged when it is safe: there is no lag.
    ...(durability === 'async' && {
      DurabilityLag: {
        metric: cache('DurabilityLag'),
        means: 'The write log of the cache falls behind; at 10 s all writes are refused (503).',
        above: DURABILITY_LAG_MS,
        minutes: 3,
        missing: NOT_BREACHING,
      },
    }),
  };
}
