import { describe, expect, test } from 'vitest';
import { Alarms } from '../../../infra/local/metrics/alarms.ts';
import { MetricStore } from '../../../infra/local/metrics/store.ts';
import { Template } from '../../../infra/local/template.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

const deployment = {
  region: 'us-east-1',
  accountId: '000000000000',
  stackName: 'stack',
  redis: { host: '127.0.0.1', port: 6379 },
};

function alarmOn(properties: object) {
  const common = {
    AlarmName: 'Starved',
    EvaluationPeriods: 2,
    Threshold: 0,
    ComparisonOperator: 'GreaterThanThreshold',
  };
  const resources = {
    Topic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: 'pages' } },
    Alarm: {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: { ...common, AlarmActions: [{ Ref: 'Topic' }], ...properties },
    },
  };
  const store = new MetricStore((problem) => expect.fail(problem));
  const alarms = new Alarms(new Template({ Resources: resources }, deployment), store, START);
  const record = (minute: number, name: string, value: number) =>
    store.record({ namespace: 'Rota', name, dimensions: { queue: 'q' }, timeMs: START + minute * MINUTE, value });
  return { alarms, record };
}

const dimensions = [{ Name: 'queue', Value: 'q' }];
const single = { Namespace: 'Rota', MetricName: 'Starved', Dimensions: dimensions, Statistic: 'Maximum', Period: 60 };
const stat = (Id: string, MetricName: string) => ({
  Id,
  MetricStat: { Metric: { Namespace: 'Rota', MetricName, Dimensions: dimensions }, Period: 60, Stat: 'Sum' },
  ReturnData: false,
});

test('an alarm fires by the points of whole periods, says since when and why, and recovers', () => {
  const { alarms, record } = alarmOn(single);
  for (const minute of [0, 1]) record(minute, 'Starved', 3);
  // The second minute is not over.
  expect(alarms.evaluate(START + 1.5 * MINUTE)).toMatchObject([{ state: 'INSUFFICIENT_DATA', sinceMs: START }]);
  expect(alarms.evaluate(START + 2 * MINUTE)).toMatchObject([
    {
      name: 'Starved',
      state: 'ALARM',
      sinceMs: START + 2 * MINUTE,
      condition: 'above 0 in 2 of 2 periods of 1 min',
      actions: ['arn:aws:sns:us-east-1:000000000000:pages'],
    },
  ]);
  record(2, 'Starved', 0);
  expect(alarms.evaluate(START + 3 * MINUTE)).toMatchObject([{ state: 'OK', sinceMs: START + 3 * MINUTE }]);
  expect(alarms.evaluate(START + 3.5 * MINUTE)).toMatchObject([{ state: 'OK', sinceMs: START + 3 * MINUTE }]);
});

test('an alarm on an expression compares the one line that is returned', () => {
  const watched = { Id: 'silent', Expression: 'IF(depth > 0 AND served == 0, 1, 0)', ReturnData: true };
  const { alarms, record } = alarmOn({ Metrics: [watched, stat('depth', 'Depth'), stat('served', 'Served')] });
  for (const [minute, served] of [0, 0, 5].entries()) {
    record(minute, 'Depth', 9);
    record(minute, 'Served', served);
  }
  expect(alarms.evaluate(START + 2 * MINUTE)).toMatchObject([{ state: 'ALARM' }]);
  expect(alarms.evaluate(START + 3 * MINUTE)).toMatchObject([{ state: 'OK' }]);
});

describe('an alarm is refused', () => {
  test.each<[string, object, RegExp]>([
    [
      'on a SEARCH',
      { Metrics: [{ Id: 'a', Expression: "SEARCH('{Rota,queue}', 'Sum')" }] },
      /Starved: an alarm cannot/,
    ],
    ['on an unknown function', { Metrics: [{ Id: 'a', Expression: 'GUESS(1)' }] }, /Starved: .*no function GUESS/],
    [
      'on several lines',
      { Metrics: [{ Id: 'a', Expression: 'METRICS()' }, stat('m', 'A'), stat('n', 'B')] },
      /one line/,
    ],
    ['without a threshold', { ...single, Threshold: undefined }, /Starved: Threshold is undefined/],
    ['of an unknown statistic', { ...single, Statistic: 'Mean' }, /Starved: Statistic "Mean"/],
  ])('%s', (_, properties, problem) => {
    expect(() => alarmOn(properties)).toThrow(problem);
  });
});
