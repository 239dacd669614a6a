import { describe, expect, it } from 'vitest';
import { Permissions } from '../../../infra/local/permissions.ts';
import { Template } from '../../../infra/local/template.ts';

const ACCOUNT = '000000000000';
const deployment = {
  region: 'eu-north-1',
  accountId: ACCOUNT,
  stackName: 'small',
  redis: { host: '127.0.0.1', port: 7000 },
};
const functionArn = (name: string, account = ACCOUNT) => `arn:aws:lambda:eu-north-1:${account}:function:${name}`;

const policy = (Effect: string, Action: unknown, Resource: unknown, more: object = {}) => ({
  Statement: { Effect, Action, Resource, ...more },
});
const attached = (id: string, document: unknown) => ({
  [id]: { Type: 'AWS::IAM::Policy', Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: document } },
});
const permissionsOf = (Resources: Record<string, unknown>) =>
  new Permissions(
    new Template({ Resources: { Role: { Type: 'AWS::IAM::Role', Properties: {} }, ...Resources } }, deployment),
  );
const invoke = (resource: string, caller = 'Role') => ({ caller, action: 'lambda:InvokeFunction', resource });

describe('a role', () => {
  it('may do what a policy of it allows and nothing else', async () => {
    const permissions = permissionsOf({
      ...attached('Allow', policy('Allow', ['lambda:Invoke*'], functionArn('*'))),
      ...attached('Deny', policy('Deny', '*', [functionArn('secret')])),
    });
    expect(await permissions.allows(invoke(functionArn('one')))).toBe(true);
    expect(await permissions.allows(invoke(functionArn('secret')))).toBe(false);
    expect(await permissions.allows({ ...invoke(functionArn('one')), action: 'lambda:GetFunction' })).toBe(false);
    expect(await permissions.allows(invoke(functionArn('one'), 'Other'))).toBe(false);
    expect(await permissions.allows(invoke(functionArn('one', '111111111111')))).toBe(false);
  });

  it('is given to those that its trust names, under the conditions that it makes', async () => {
    const trust = {
      Effect: 'Allow',
      Principal: { Service: 'scheduler.amazonaws.com' },
      Action: 'sts:AssumeRole',
      Condition: { StringEquals: { 'aws:SourceAccount': ACCOUNT } },
    };
    const permissions = permissionsOf({
      Role: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: [trust] } } },
    });
    const assume = (caller: string, account: string) =>
      permissions.allows({
        caller,
        action: 'sts:AssumeRole',
        resource: `arn:aws:iam::${ACCOUNT}:role/Role`,
        context: { 'aws:SourceAccount': account },
      });
    expect(await assume('scheduler.amazonaws.com', ACCOUNT)).toBe(true);
    expect(await assume('scheduler.amazonaws.com', '111111111111')).toBe(false);
    expect(await assume('lambda.amazonaws.com', ACCOUNT)).toBe(false);
  });
});

describe('the code of a function', () => {
  const call = { ...invoke(functionArn('one')), functionArn: functionArn('own') };

  it('is told from the service that acts with the same role', async () => {
    const condition = { Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } } };
    const permissions = permissionsOf({
      ...attached('Allow', policy('Allow', 'lambda:InvokeFunction', '*')),
      ...attached('Deny', policy('Deny', 'lambda:InvokeFunction', '*', condition)),
    });
    expect(await permissions.allows(invoke(functionArn('one')))).toBe(true);
    expect(await permissions.allowsFunction(call)).toBe(false);
  });

  it('reaches through the endpoint of a service only what its policy lets through', async () => {
    const endpoint = (target: string) => ({
      Endpoint: {
        Type: 'AWS::EC2::VPCEndpoint',
        Properties: {
          ServiceName: 'com.amazonaws.eu-north-1.lambda',
          PolicyDocument: policy('Allow', 'lambda:InvokeFunction', functionArn(target), { Principal: '*' }),
        },
      },
    });
    const role = attached('Allow', policy('Allow', 'lambda:InvokeFunction', '*'));
    expect(await permissionsOf({ ...role, ...endpoint('one') }).allowsFunction(call)).toBe(true);
    expect(await permissionsOf({ ...role, ...endpoint('other') }).allowsFunction(call)).toBe(false);
    expect(await permissionsOf({ ...role, ...endpoint('other') }).allows(invoke(functionArn('one')))).toBe(true);
  });
});

const permission = (more: object = {}) => ({
  Permission: {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      FunctionName: functionArn('one'),
      Principal: 'apigateway.amazonaws.com',
      Action: 'lambda:InvokeFunction',
      ...more,
    },
  },
});
const from = (api: string) => ({
  ...invoke(functionArn('one'), 'apigateway.amazonaws.com'),
  context: { 'aws:SourceArn': `arn:aws:execute-api:eu-north-1:${ACCOUNT}:${api}/$default/POST/v1/jobs` },
});

describe('a service', () => {
  it('invokes functions that admit it, from the source that they name', async () => {
    const permissions = permissionsOf(permission({ SourceArn: `arn:aws:execute-api:eu-north-1:${ACCOUNT}:own/*/*` }));
    expect(await permissions.allows(from('own'))).toBe(true);
    expect(await permissions.allows(from('other'))).toBe(false);
    expect(await permissions.allows({ ...from('own'), caller: 'events.amazonaws.com' })).toBe(false);
    expect(await permissionsOf(permission()).allows(from('other'))).toBe(true);
    expect(await permissionsOf({}).allows(from('own'))).toBe(false);
  });
});

it('keeps each call once, with what was decided', async () => {
  const permissions = permissionsOf(attached('Allow', policy('Allow', 'lambda:InvokeFunction', functionArn('one'))));
  for (const name of ['one', 'two', 'one']) await permissions.allows(invoke(functionArn(name)));
  expect(await permissions.calls()).toEqual([
    { ...invoke(functionArn('one')), allowed: true },
    { ...invoke(functionArn('two')), allowed: false },
  ]);
});

it('names a policy that IAM would not take', async () => {
  const permissions = permissionsOf(
    attached('Allow', { Statement: { Effect: 'Maybe', Action: 'lambda:*', Resource: '*' } }),
  );
  await expect(permissions.allows(invoke(functionArn('one')))).rejects.toThrow('IAM would refuse a policy');
});
