import { expect, test } from 'vitest';
import { readSchedules } from '../../infra/local/schedules.ts';
import { Template } from '../../infra/local/template.ts';

const deployment = {
  region: 'eu-north-1',
  accountId: '000000000000',
  stackName: 'small',
  redis: { host: '127.0.0.1', port: 7000 },
};

const resolve = (value: unknown, more: Record<string, unknown> = {}) => {
  const Resources = { Subject: { Type: 'Test::Subject', Properties: { value } }, ...more };
  const template = new Template(
    { Resources, Conditions: { Yes: { 'Fn::Equals': ['a', 'a'] }, No: { 'Fn::Not': [{ Condition: 'Yes' }] } } },
    deployment,
  );
  return template.resource('Subject').properties.value;
};

const Cache = { Type: 'AWS::ElastiCache::ReplicationGroup', Properties: {} };

test.each([
  [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::Region' }, { Ref: 'Cache' }]] }, 'a-eu-north-1-Cache'],
  [{ 'Fn::GetAtt': ['Cache', 'ConfigurationEndPoint.Address'] }, '127.0.0.1'],
  [{ 'Fn::GetAtt': 'Cache.ConfigurationEndPoint.Port' }, '7000'],
  [{ 'Fn::Select': [1, { 'Fn::Split': ['|', 'a|b|c'] }] }, 'b'],
  [{ 'Fn::Sub': 'x-${Cache}-${Cache.PrimaryEndPoint.Port}-${!Literal}' }, 'x-Cache-7000-${Literal}'],
  [{ 'Fn::Sub': ['${A}/${AWS::Partition}', { A: { Ref: 'Cache' } }] }, 'Cache/aws'],
  [{ 'Fn::If': ['Yes', 1, 2] }, 1],
  [{ 'Fn::If': ['No', 1, { Ref: 'AWS::NoValue' }] }, undefined],
  [
    ['a', { Ref: 'AWS::NoValue' }, { deep: { Ref: 'AWS::AccountId' } }],
    ['a', { deep: '000000000000' }],
  ],
])('resolves %j', (value, expected) => {
  expect(resolve(value, { Cache })).toEqual(expected);
});

test.each([
  [{ Ref: 'Nothing' }, 'Resource Subject refers to Nothing, which the template does not have'],
  [{ 'Fn::GetAtt': ['Nothing', 'Arn'] }, 'Resource Subject refers to Nothing'],
  [{ 'Fn::Sub': '${Nothing}' }, 'Resource Subject refers to Nothing'],
  [
    { 'Fn::GetAtt': ['Other', 'Size'] },
    'Resource Subject refers to Other.Size: the local runner knows no Size of Test::Other',
  ],
  [{ 'Fn::ImportValue': 'x' }, 'Resource Subject uses Fn::ImportValue'],
  [{ 'Fn::If': ['Absent', 1, 2] }, 'Resource Subject refers to condition Absent'],
])('refuses %j by the name of the resource', (value, message) => {
  expect(() => resolve(value, { Other: { Type: 'Test::Other' } })).toThrow(message);
});

const schedule = (expression: string) =>
  readSchedules(
    new Template(
      {
        Resources: {
          Tick: {
            Type: 'AWS::Scheduler::Schedule',
            Properties: { ScheduleExpression: expression, Target: { Arn: 'arn', RoleArn: 'arn:aws:iam::0:role/r' } },
          },
        },
      },
      deployment,
    ),
  )[0];

test.each([
  ['rate(1 minute)', '2026-11-30T10:00:30Z', '2026-11-30T10:01:30Z'],
  ['rate(5 minutes)', '2026-11-30T10:00:30Z', '2026-11-30T10:05:30Z'],
  ['cron(* * * * ? *)', '2026-11-30T10:00:30Z', '2026-11-30T10:01:00Z'],
  ['cron(0/15 * * * ? *)', '2026-11-30T10:46:00Z', '2026-11-30T11:00:00Z'],
  ['cron(30 3 * * ? *)', '2026-11-30T10:00:00Z', '2026-12-01T03:30:00Z'],
])('%s fires after %s at %s', (expression, now, next) => {
  expect(new Date(schedule(expression)?.next(Date.parse(now)) ?? 0)).toEqual(new Date(next));
});

test('refuses a schedule that it cannot follow', () => {
  expect(() => schedule('cron(0 0 1 * ? *)')).toThrow('Schedule Tick');
});
