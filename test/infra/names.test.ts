import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../functions/lib/config/parse.ts';
import { FairQueue } from '../../infra/constructs/fair-queue.ts';
import { RotaStack } from '../../infra/rota-stack.ts';
import { type Embedded, embed } from './embedded.ts';
import type { Resource } from './template.ts';

/** The property of a type by which two of its kind in one account and region would collide. */
const NAMED: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::Api': 'Name',
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::CloudWatch::InsightRule': 'RuleName',
  'AWS::ElastiCache::ParameterGroup': 'CacheParameterGroupName',
  'AWS::ElastiCache::ReplicationGroup': 'ReplicationGroupId',
  'AWS::ElastiCache::SubnetGroup': 'CacheSubnetGroupName',
  'AWS::ElastiCache::User': 'UserId',
  'AWS::ElastiCache::UserGroup': 'UserGroupId',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::Scheduler::Schedule': 'Name',
  'AWS::SNS::Topic': 'TopicName',
};

const namesOf = (stack: Embedded) =>
  Object.entries(NAMED).flatMap(([type, property]) =>
    stack.ofType(type).flatMap(([, { Properties }]: [string, Resource]) => {
      const name: unknown = Properties?.[property];
      return name === undefined ? [] : [`${type} ${JSON.stringify(name)}`];
    }),
  );

const settings = { queue: 'imports' };
const here = (stackName: string) =>
  namesOf(embed((stack) => new FairQueue(stack, 'Queue', { settings }), { stackName }));

describe('names', () => {
  it('are the same at every synth', () => {
    expect(here('one').length).toBeGreaterThan(10);
    expect(here('one')).toEqual(here('one'));
  });

  it('of the functions on this machine are those that the README calls', () => {
    const stack = new RotaStack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Rota', {
      settings: readSettings({}),
      stackName: 'rota-default',
    });
    const groups = Object.values(Template.fromStack(stack).findResources('AWS::Logs::LogGroup'));
    const enqueue = groups
      .map(({ Properties }) => String(Properties.LogGroupName))
      .find((name) => name.endsWith('/enqueue'));
    expect(readFileSync('README.md', 'utf8')).toContain(`--function-name ${enqueue?.slice(1).replaceAll('/', '-')} `);
  });

  it('differ between two stacks with a queue of one name', () => {
    expect(here('one').filter((name) => here('two').includes(name))).toEqual([]);
  });

  it('differ between two queues of one name in one stack', () => {
    const names = namesOf(
      embed((stack) => {
        new FairQueue(stack, 'First', { settings });
        new FairQueue(stack, 'Second', { settings });
      }),
    );
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(['q', 'a-', 'x--y', 'the-longest-name-that-a-queue-ma'.slice(0, 31)])(
    'fit what ElastiCache takes, for queue %s',
    (queue) => {
      const stack = embed((scope) => new FairQueue(scope, 'Queue', { settings: { queue } }));
      const ids = [
        ...stack.ofType('AWS::ElastiCache::User').map(([, { Properties }]) => Properties.UserId),
        ...stack.ofType('AWS::ElastiCache::UserGroup').map(([, { Properties }]) => Properties.UserGroupId),
      ];
      expect(ids).toHaveLength(3);
      for (const id of ids) expect(id).toMatch(/^(?=.{1,40}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
    },
  );
});
