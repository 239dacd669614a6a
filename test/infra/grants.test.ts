import type { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import type { GivenSettings } from '../../functions/lib/config/table.ts';
import { FairQueue } from '../../infra/constructs/fair-queue.ts';
import { embed } from './embedded.ts';

const jwt: GivenSettings = { auth: { api: 'jwt', jwt: { issuer: 'https://issuer.example', audience: ['a'] } } };

/** What a role of the host may do after `grant`, and who may take it on. */
function granted(grant: (queue: FairQueue, role: iam.Role, stack: Stack) => void, settings: GivenSettings = {}) {
  const stack = embed((host) => {
    const role = new iam.Role(host, 'Caller', { assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com') });
    grant(new FairQueue(host, 'Queue', { settings }), role, host);
  });
  const may = (id: RegExp) =>
    stack
      .ofType('AWS::IAM::Policy')
      .filter(([, { Properties }]) => Properties.Roles.some(({ Ref }: { Ref: string }) => id.test(Ref)))
      .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement);
  const trust = (id: RegExp) => stack.ofType('AWS::IAM::Role').find(([name]) => id.test(name))?.[1].Properties;
  return { may, trust };
}

const api = (rest: string) => ({
  'Fn::Join': [
    '',
    [
      'arn:',
      { Ref: 'AWS::Partition' },
      ':execute-api:',
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
      ':',
      { Ref: expect.stringMatching(/^QueueApiHttpApi/) },
      rest,
    ],
  ],
});
const invokeEnqueue = {
  Effect: 'Allow',
  Action: 'lambda:InvokeFunction',
  Resource: { 'Fn::GetAtt': [expect.stringMatching(/^QueueFunctionsEnqueueFunction/), 'Arn'] },
};
const callEnqueue = { Effect: 'Allow', Action: 'execute-api:Invoke', Resource: api('/*/POST/v1/jobs') };
const callHealth = { ...callEnqueue, Resource: api('/*/GET/v1/health') };
const callAll = { Effect: 'Allow', Action: 'execute-api:Invoke', Resource: api('/*/*/*') };

const CALLER = /^Caller/;

describe('a grant', () => {
  it('to enqueue is for the routes of producers and the function behind them', () => {
    const { may } = granted((queue, role) => void queue.grantEnqueue(role));
    expect(may(CALLER)).toEqual([invokeEnqueue, callEnqueue, callHealth]);
  });

  it('to enqueue is for the function alone where callers are known by token', () => {
    const { may } = granted((queue, role) => void queue.grantEnqueue(role), jwt);
    expect(may(CALLER)).toEqual([invokeEnqueue]);
  });

  it('to operate is for every route and no function', () => {
    const { may } = granted((queue, role) => void queue.grantOperate(role));
    expect(may(CALLER)).toEqual([callAll]);
  });

  it('to operate is refused where callers are known by token', () => {
    expect(() => granted((queue, role) => void queue.grantOperate(role), jwt)).toThrow('auth.api is jwt');
  });

  it('is refused to whoever has no policy here', () => {
    const other = new iam.AccountPrincipal('111122223333');
    expect(() => granted((queue) => void queue.grantEnqueue(other))).toThrow('producerRole');
  });
});

const trustIn = (account: string, Condition?: unknown) => ({
  Effect: 'Allow',
  Action: 'sts:AssumeRole',
  Principal: { AWS: { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:iam::${account}:root`]] } },
  ...(Condition !== undefined && { Condition }),
});

describe('a role for other accounts', () => {
  it('lets producers enqueue, and only the accounts that it names take it on', () => {
    const { may, trust } = granted((queue) => {
      queue.producerRole('Partner', { accounts: ['111122223333'], externalId: 'gallery' });
    });
    expect(may(/^QueuePartner/)).toEqual([invokeEnqueue, callEnqueue, callHealth]);
    expect(trust(/^QueuePartner/).AssumeRolePolicyDocument.Statement).toEqual([
      trustIn('111122223333', { StringEquals: { 'sts:ExternalId': 'gallery' } }),
    ]);
  });

  it('is made of the settings, one for each kind of caller', () => {
    const { may, trust } = granted(() => undefined, {
      trustedAccounts: { enqueue: ['111122223333', '444455556666'], operate: ['777788889999'] },
    });
    expect(may(/^QueueGrantsProducers/)).toEqual([invokeEnqueue, callEnqueue, callHealth]);
    expect(trust(/^QueueGrantsProducers/).AssumeRolePolicyDocument.Statement).toEqual([
      trustIn('111122223333'),
      trustIn('444455556666'),
    ]);
    expect(may(/^QueueGrantsOperators/)).toEqual([callAll]);
  });

  it('is refused for what is no account', () => {
    expect(() => granted((queue) => void queue.producerRole('Partner', { accounts: ['partner'] }))).toThrow(
      '["partner"]; expected at least one, of 12 digits each',
    );
    expect(() => granted((queue) => void queue.operatorRole('Nobody', { accounts: [] }))).toThrow('at least one');
  });
});
