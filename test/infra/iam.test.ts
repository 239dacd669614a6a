import { describe, expect, it } from 'vitest';
import { type FunctionCall, Permissions } from '../../infra/local/permissions.ts';
import { type Resource as Declared, Template } from '../../infra/local/template.ts';
import { type Synthesized, synthesize } from './template.ts';
import { variants } from './variants.ts';

const REGION = 'eu-north-1';
const ACCOUNT = '000000000000';
const NAMES = ['dispatch', 'enqueue', 'monitor', 'process', 'tenants'] as const;
type Name = (typeof NAMES)[number];

/** Rights that cannot be narrower, and why. Whatever else has a `*` fails. */
const WIDE = {
  'ec2:AssignPrivateIpAddresses': 'Lambda attaches a function to the network; its own code is denied the same',
  'ec2:CreateNetworkInterface': 'as above',
  'ec2:DeleteNetworkInterface': 'as above',
  'ec2:DescribeNetworkInterfaces': 'as above, and the action knows no resources',
  'ec2:DescribeSubnets': 'as above, and the action knows no resources',
  'ec2:UnassignPrivateIpAddresses': 'as above',
} as const;

/** The streams of a log group are made as they are needed: they are named by what comes after the group's name. */
const STREAMS = /^(arn:aws:logs:[^*]+):\*$/;

const INVOKES: Readonly<Record<Name, Name[]>> = {
  dispatch: ['process'],
  enqueue: ['dispatch'],
  monitor: [],
  process: [],
  tenants: ['dispatch'],
};

const list = (value: unknown): string[] => [value].flat().map(String);

/** The template as if deployed: its resources with ARNs, by type. */
function deploy(stack: Synthesized) {
  const template = new Template(stack.template.toJSON(), {
    region: REGION,
    accountId: ACCOUNT,
    stackName: 'rota',
    redis: { host: 'cache', port: 6380 },
  });
  const arnOf = (name: Name) =>
    `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${template.resource(stack.functions[name] ?? '').name}`;
  const roleOf = (name: Name) =>
    String(template.resource(stack.functions[name] ?? '').properties.Role).split('/')[1] ?? '';
  const policies = template
    .resources('AWS::IAM::Policy')
    .map(({ properties }) => JSON.parse(JSON.stringify(properties)));
  /** What the policies of a role say, one line for each action on each resource. */
  const rightsOf = (role: string): string[] =>
    policies
      .filter(({ Roles }) => Roles.includes(role))
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .flatMap(({ Effect, Action, Resource, Condition }) =>
        list(Action).flatMap((action) =>
          list(Resource).map((on) => `${Effect} ${action} ${on}${Condition ? ` if ${JSON.stringify(Condition)}` : ''}`),
        ),
      )
      .toSorted();
  const own = (type: string): Declared[] => template.resources(type);
  return { template, permissions: new Permissions(template), arnOf, roleOf, rightsOf, own };
}

const arn = (service: string, rest: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;

describe.each(Object.entries(variants))('the policies (%s)', (_, settings) => {
  const stack = synthesize(settings);
  const { template, permissions, arnOf, roleOf, rightsOf, own } = deploy(stack);
  const cache = own('AWS::ElastiCache::ReplicationGroup')[0]?.name ?? '';
  const secret = own('AWS::SecretsManager::Secret').map(({ id }) => template.secretArn(id));
  const user = own('AWS::ElastiCache::User').find(({ properties }) => properties.UserName !== 'default')?.name ?? '';
  const logsOf = (name: Name) =>
    own('AWS::Logs::LogGroup').find(({ name: group }) => group.startsWith('/rota/') && group.endsWith(`/${name}`))
      ?.name;
  const call = (name: Name, action: string, resource: string): FunctionCall => ({
    caller: roleOf(name),
    functionArn: arnOf(name),
    action,
    resource,
  });

  /** By a token for the user and its cache, or by the secret: never both. */
  const connecting: [action: string, resource: string][] =
    secret.length > 0
      ? secret.map((each) => ['secretsmanager:GetSecretValue', each])
      : [`replicationgroup:${cache}`, `user:${user}`].map((each) => ['elasticache:Connect', arn('elasticache', each)]);

  it.each(NAMES)('give %s what its part of the way of a job needs, and nothing else', (name) => {
    const expected = [
      ...Object.keys(WIDE).flatMap((action) => [
        `Allow ${action} *`,
        `Deny ${action} * if {"Null":{"lambda:SourceFunctionArn":"false"}}`,
      ]),
      ...connecting.map(([action, resource]) => `Allow ${action} ${resource}`),
      `Allow logs:CreateLogStream ${arn('logs', `log-group:${logsOf(name)}:*`)}`,
      `Allow logs:PutLogEvents ${arn('logs', `log-group:${logsOf(name)}:*`)}`,
      ...INVOKES[name].map((target) => `Allow lambda:InvokeFunction ${arnOf(target)}`),
    ];
    expect(rightsOf(roleOf(name))).toEqual(expected.toSorted());
  });

  it('tell a function of those that it may invoke, and of no others', () => {
    for (const name of NAMES) {
      const { Variables } = stack.resources[stack.functions[name] ?? '']?.Properties.Environment ?? {};
      const told = NAMES.filter((target) => Variables[`ROTA_${target.toUpperCase()}_FUNCTION`] !== undefined);
      expect(told).toEqual(INVOKES[name]);
      for (const target of told) {
        expect(Variables[`ROTA_${target.toUpperCase()}_FUNCTION`]).toEqual({ Ref: stack.functions[target] });
      }
    }
  });

  it('give each schedule its function', () => {
    const schedules: string[] = own('AWS::Scheduler::Schedule').map(({ properties }) => {
      const { Arn, RoleArn } = JSON.parse(JSON.stringify(properties.Target));
      expect(rightsOf(RoleArn.split('/')[1])).toEqual([`Allow lambda:InvokeFunction ${Arn}`]);
      return String(Arn);
    });
    expect(schedules.toSorted()).toEqual([arnOf('dispatch'), arnOf('monitor')]);
  });

  it('say nothing of everything, but where it cannot be otherwise', () => {
    const wide = own('AWS::IAM::Role')
      .flatMap(({ name }) => rightsOf(name))
      .map((right) => right.split(' '))
      .filter(([, action = '', on = '']) => action.includes('*') || on.replace(STREAMS, '$1').includes('*'))
      .map(([, action = '']) => action);
    expect(wide.length).toBeGreaterThan(0);
    expect(wide.filter((action) => !(action in WIDE))).toEqual([]);
    for (const { properties } of own('AWS::IAM::Role')) expect(properties.ManagedPolicyArns).toBeUndefined();
  });

  it('let in only the services that act for the queue, and of those that many share only for this account', () => {
    for (const { properties } of own('AWS::IAM::Role')) {
      const { Statement } = JSON.parse(JSON.stringify(properties.AssumeRolePolicyDocument));
      expect(Statement).toHaveLength(1);
      const [{ Principal, Condition }] = Statement;
      expect(['lambda', 'scheduler', 'vpc-flow-logs'].map((name) => `${name}.amazonaws.com`)).toContain(
        Principal.Service,
      );
      if (Principal.Service === 'lambda.amazonaws.com') continue;
      expect(Condition).toEqual({ StringEquals: { 'aws:SourceAccount': ACCOUNT } });
    }
  });

  it('let the gateway, from the API of the queue, invoke what answers its routes', () => {
    const permitted: string[] = own('AWS::Lambda::Permission').map(({ properties }) => {
      const { Principal, Action, SourceArn, FunctionName } = properties;
      expect({ Principal, Action }).toEqual({ Principal: 'apigateway.amazonaws.com', Action: 'lambda:InvokeFunction' });
      const api = own('AWS::ApiGatewayV2::Api')[0]?.id;
      expect(SourceArn).toMatch(new RegExp(`^${arn('execute-api', `${api}/`)}[*/]+$`));
      return String(FunctionName);
    });
    expect(permitted.toSorted()).toEqual([arnOf('enqueue'), arnOf('tenants')]);
  });

  it('refuse what nobody has to do', async () => {
    const elsewhere = arnOf('process').replace(ACCOUNT, '111111111111');
    const invocations = NAMES.flatMap((name) =>
      NAMES.filter((target) => !INVOKES[name].includes(target)).map((target) =>
        call(name, 'lambda:InvokeFunction', arnOf(target)),
      ),
    );
    const others = NAMES.flatMap((name) => [
      call(name, 'lambda:InvokeFunction', elsewhere),
      call(name, 'lambda:InvokeFunction', arn('lambda', 'function:another')),
      call(name, 'lambda:UpdateFunctionCode', arnOf('process')),
      call(name, 'lambda:GetFunction', arnOf('process')),
      call(name, 'elasticache:Connect', arn('elasticache', 'user:another')),
      call(name, 'elasticache:Connect', arn('elasticache', 'replicationgroup:another')),
      call(name, 'elasticache:ModifyUser', arn('elasticache', `user:${user}`)),
      call(name, 'logs:PutLogEvents', arn('logs', 'log-group:/another:log-stream:s')),
      call(name, 'logs:DeleteLogGroup', arn('logs', `log-group:${logsOf(name)}:*`)),
      call(name, 'logs:GetLogEvents', arn('logs', `log-group:${logsOf(name)}:log-stream:s`)),
      call(name, 'ec2:CreateNetworkInterface', arn('ec2', 'network-interface/own')),
      call(name, 'ec2:DescribeSubnets', '*'),
      call(name, 'iam:PassRole', `arn:aws:iam::${ACCOUNT}:role/${roleOf('process')}`),
      call(name, 'sts:AssumeRole', `arn:aws:iam::${ACCOUNT}:role/${roleOf('dispatch')}`),
      call(name, 'secretsmanager:GetSecretValue', arn('secretsmanager', 'secret:another-AbCdEf')),
      call(name, 's3:GetObject', 'arn:aws:s3:::another/key'),
    ]);
    const allowed = await Promise.all(
      [...invocations, ...others].map(async (each) => ((await permissions.allowsFunction(each)) ? [each] : [])),
    );
    expect(allowed.flat()).toEqual([]);
  });

  it('refuse services that come from elsewhere', async () => {
    const invoke = (caller: string, source: string, account = ACCOUNT) => ({
      caller,
      action: 'lambda:InvokeFunction',
      resource: arnOf('enqueue'),
      context: { 'aws:SourceArn': source, 'aws:SourceAccount': account },
    });
    const assume = (caller: string, name: Name, account: string) => ({
      caller,
      action: 'sts:AssumeRole',
      resource: `arn:aws:iam::${ACCOUNT}:role/${name === 'dispatch' ? scheduleRole : roleOf(name)}`,
      context: { 'aws:SourceAccount': account },
    });
    const scheduleRole = own('AWS::IAM::Role').find(({ name }) => name.includes('Schedulesdispatch'))?.name;
    const calls = [
      invoke('apigateway.amazonaws.com', arn('execute-api', 'another/$default/POST/v1/jobs')),
      invoke('events.amazonaws.com', arn('events', 'rule/every-minute')),
      invoke('s3.amazonaws.com', 'arn:aws:s3:::another'),
      assume('scheduler.amazonaws.com', 'dispatch', '111111111111'),
      assume('lambda.amazonaws.com', 'dispatch', ACCOUNT),
      assume('ec2.amazonaws.com', 'process', ACCOUNT),
    ];
    const decided = await Promise.all(calls.map(async (each) => await permissions.allows(each)));
    expect(decided).toEqual(calls.map(() => false));
    // The same scheduler may, for this account: what is refused above is refused for the account's sake.
    expect(await permissions.allows(assume('scheduler.amazonaws.com', 'dispatch', ACCOUNT))).toBe(true);
  });

  it('allow what a job needs on its way', async () => {
    const needed = NAMES.flatMap((name) => [
      ...INVOKES[name].map((target) => call(name, 'lambda:InvokeFunction', arnOf(target))),
      ...connecting.map(([action, resource]) => call(name, action, resource)),
    ]);
    const decided = await Promise.all(needed.map(async (each) => await permissions.allowsFunction(each)));
    expect(decided).toEqual(needed.map(() => true));
  });
});

describe('the endpoint of the Lambda service', () => {
  const { permissions, arnOf, roleOf, own } = deploy(synthesize(variants.standard));

  it('lets through the invocations of this queue, and nothing else', async () => {
    const through = (action: string, resource: string) =>
      permissions.allowsFunction({ caller: roleOf('dispatch'), functionArn: arnOf('dispatch'), action, resource });
    expect(await through('lambda:InvokeFunction', arnOf('process'))).toBe(true);
    const documents = own('AWS::EC2::VPCEndpoint').map(({ properties }) => properties.PolicyDocument);
    expect(documents).toEqual([
      {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: '*',
            Action: 'lambda:InvokeFunction',
            Resource: [arnOf('dispatch'), arnOf('process')],
          },
        ],
      },
    ]);
  });
});
