import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { alarmMetrics, RULES } from '../../infra/docs/cost/model.ts';
import { ofType, type Synthesized, synthesize } from './template.ts';
import { variants } from './variants.ts';

const asynchronous = synthesize({ ...variants.valkey, durability: 'async' });
const stacks: Readonly<Record<string, Synthesized>> = {
  standard: synthesize(),
  sync: synthesize(variants.valkey),
  async: asynchronous,
  mailed: synthesize({ alarmEmail: 'ops@example.com', runbookUrl: 'https://wiki.example/rota' }),
};

const alarmsOf = (stack: Synthesized) =>
  ofType(stack, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
const nameOf = ({ AlarmName }: { AlarmName: string }) => AlarmName.split('-').at(-1) ?? '';
const one = (stack: Synthesized, name: string) => alarmsOf(stack).find((alarm) => nameOf(alarm) === name);

const runbook = readFileSync(new URL('../../infra/docs/runbook.md', import.meta.url), 'utf8');
const sections = new Map(
  (runbook.split(/^## /m).find((part) => part.startsWith('Alarms')) ?? '')
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', section]),
);

describe.each(Object.entries(stacks))('the alarms (%s)', (_, stack) => {
  it('tell the topic when they fire and when all is well', () => {
    const [topic] = ofType(stack, 'AWS::SNS::Topic')[0] ?? [];
    for (const { AlarmActions, OKActions } of alarmsOf(stack)) {
      expect(AlarmActions).toEqual([{ Ref: topic }]);
      expect(OKActions).toEqual([{ Ref: topic }]);
    }
  });

  it('use no SEARCH, which CloudWatch refuses, and at most ten metrics', () => {
    for (const { Metrics = [] } of alarmsOf(stack)) {
      expect(JSON.stringify(Metrics)).not.toContain('SEARCH');
      expect(Metrics.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat).length).toBeLessThanOrEqual(10);
      expect(Metrics.filter(({ ReturnData }: { ReturnData: boolean }) => ReturnData)).toHaveLength(Metrics.length && 1);
    }
  });

  it('say what happens to users, and name the heading of the runbook that helps', () => {
    for (const alarm of alarmsOf(stack)) {
      const anchor = `${stack.settings.runbookUrl}#${nameOf(alarm).toLowerCase()}`;
      expect(alarm.AlarmDescription).toMatch(/^[A-Z].*\. Look up: \S+$/);
      expect(alarm.AlarmDescription.endsWith(anchor)).toBe(true);
    }
  });
});

describe('the runbook', () => {
  it('has a heading for each alarm, and for nothing else', () => {
    expect([...sections.keys()].toSorted()).toEqual(alarmsOf(asynchronous).map(nameOf).toSorted());
  });

  it.each([...sections])('says what %s means, where to look and what to do', (_, section) => {
    for (const part of ['Meaning', 'Look', 'Do'])
      expect(section).toMatch(new RegExp(`^\\*\\*${part}\\.\\*\\* \\S`, 'm'));
  });
});

describe('an alarm', () => {
  it('on a starved tenant waits for ten minutes of it', () => {
    expect(one(asynchronous, 'TenantStarved')).toMatchObject({
      Metrics: [{ MetricStat: { Metric: { MetricName: 'StarvedTenants' }, Stat: 'Maximum', Period: 60 } }],
      Threshold: 0,
      EvaluationPeriods: 10,
      DatapointsToAlarm: 10,
    });
  });

  it('tells of a dead monitor too', () => {
    expect(one(asynchronous, 'DispatcherSilent')).toMatchObject({
      TreatMissingData: 'missing',
      InsufficientDataActions: one(asynchronous, 'DispatcherSilent').AlarmActions,
    });
  });

  it('on the lag of the write log is there only where there can be one', () => {
    const having = Object.keys(stacks).filter((name) => stacks[name] && one(stacks[name], 'DurabilityLag'));
    expect(having).toEqual(['async']);
  });

  it('on the age of events fires before their leases lapse', () => {
    expect(one(synthesize({ openSeconds: '30' }), 'AsyncEventAge')?.Threshold).toBe(15_000);
  });

  it('on the cache looks at every node that can become the primary', () => {
    for (const stack of Object.values(stacks)) {
      const { Metrics } = one(stack, 'RedisEngineCPU');
      const nodes = Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: { Dimensions: unknown[] } } }) =>
        MetricStat ? MetricStat.Metric.Dimensions : [],
      );
      expect(nodes).toHaveLength(stack.settings.replicas + 1);
      expect(new Set(nodes.map((node: unknown) => JSON.stringify(node))).size).toBe(nodes.length);
    }
  });
});

describe('the topic', () => {
  it('lets the alarms of this account publish, over TLS only', () => {
    const [, policy] = ofType(asynchronous, 'AWS::SNS::TopicPolicy')[0] ?? [];
    expect(policy?.Properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
  });

  it('has the address of the settings as a subscriber, if there is one', () => {
    const subscribed = Object.keys(stacks).filter((name) => {
      const stack = stacks[name];
      return stack && ofType(stack, 'AWS::SNS::Subscription').length > 0;
    });
    expect(subscribed).toEqual(['mailed']);
  });
});

describe('the model of costs', () => {
  it('counts the metrics that the alarms look at, and the rules', () => {
    for (const stack of [synthesize(), synthesize(variants.valkey), synthesize({ replicas: '0' })]) {
      const metrics = alarmsOf(stack).flatMap(({ Metrics }) =>
        Metrics.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat),
      );
      expect(metrics).toHaveLength(alarmMetrics(stack.settings.replicas));
      expect(ofType(stack, 'AWS::CloudWatch::InsightRule')).toHaveLength(RULES);
    }
  });
});
