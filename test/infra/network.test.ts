import type { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { describe, expect, it } from 'vitest';
import { FairQueue, type FairQueueProps } from '../../infra/constructs/fair-queue.ts';
import { embed } from './embedded.ts';

const { PUBLIC, PRIVATE_ISOLATED, PRIVATE_WITH_EGRESS } = ec2.SubnetType;

const vpcOf = (stack: Stack, ...types: ec2.SubnetType[]) =>
  new ec2.Vpc(stack, 'Vpc', {
    maxAzs: 2,
    subnetConfiguration: types.map((subnetType, index) => ({ name: `${subnetType}${index}`, subnetType })),
  });

/** The names of the subnet groups that subnets belong to. */
const refs = (subnets: { Ref: string }[]) => subnets.map(({ Ref }) => /Vpc(\w+?)Subnet/.exec(Ref)?.[1]);

/** A queue in a network with these subnets, and where its parts have gone. */
function placed(types: ec2.SubnetType[], props: FairQueueProps = {}) {
  const stack = embed((scope) => new FairQueue(scope, 'Queue', { ...props, vpc: vpcOf(scope, ...types) }));
  return {
    stack,
    cache: refs(stack.ofType('AWS::ElastiCache::SubnetGroup')[0]?.[1].Properties.SubnetIds),
    functions: refs(stack.ofType('AWS::Lambda::Function')[0]?.[1].Properties.VpcConfig.SubnetIds),
  };
}

describe('a given network', () => {
  it('is the only one there is, and gets cache and functions into its isolated subnets', () => {
    const { stack, cache, functions } = placed([PUBLIC, PRIVATE_WITH_EGRESS, PRIVATE_ISOLATED]);
    expect(stack.ofType('AWS::EC2::VPC')).toHaveLength(1);
    expect(cache).toEqual(['Isolated2', 'Isolated2']);
    expect(functions).toEqual(['Isolated2', 'Isolated2']);
  });

  it('gets them into private subnets where it has no isolated ones', () => {
    const { cache, functions } = placed([PUBLIC, PRIVATE_WITH_EGRESS]);
    expect([...cache, ...functions]).toEqual(Array.from({ length: 4 }, () => 'Private1'));
  });

  it('gets functions that call out where there is a way out', () => {
    const { cache, functions } = placed([PUBLIC, PRIVATE_WITH_EGRESS, PRIVATE_ISOLATED], {
      settings: { egress: 'nat' },
    });
    expect(cache).toEqual(['Isolated2', 'Isolated2']);
    expect(functions).toEqual(['Private1', 'Private1']);
  });

  it('gets them where it is told to', () => {
    const { cache, functions } = placed([PUBLIC, PRIVATE_ISOLATED, PRIVATE_ISOLATED], {
      vpcSubnets: { cache: { subnetGroupName: 'Isolated1' }, functions: { subnetGroupName: 'Isolated2' } },
    });
    expect([...new Set(cache), ...new Set(functions)]).toEqual(['Isolated1', 'Isolated2']);
  });

  it('is refused without private subnets, and where functions are to go into public ones', () => {
    expect(() => placed([PUBLIC])).toThrow(/no subnets for the cache: choose private subnets .* vpcSubnets\.cache/s);
    expect(() => placed([PUBLIC, PRIVATE_ISOLATED], { settings: { egress: 'nat' } })).toThrow(
      /no subnets for the functions: choose/,
    );
    expect(() => placed([PUBLIC, PRIVATE_ISOLATED], { vpcSubnets: { functions: { subnetType: PUBLIC } } })).toThrow(
      /subnets for the functions are public/,
    );
  });
});

const endpointsOf = (build: (stack: Stack) => void) => embed(build).ofType('AWS::EC2::VPCEndpoint');

describe('the endpoint of Lambda', () => {
  it('is good for invoking dispatch and process, and nothing else', () => {
    const [endpoint, ...rest] = endpointsOf((stack) => new FairQueue(stack, 'Queue'));
    expect(rest).toEqual([]);
    expect(endpoint?.[1].Properties.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Principal: '*',
        Action: 'lambda:InvokeFunction',
        Resource: ['Dispatch', 'Process'].map((name) => ({
          'Fn::GetAtt': [expect.stringMatching(`^QueueFunctions${name}Function`), 'Arn'],
        })),
      },
    ]);
  });

  it('is not made twice in one network', () => {
    expect(() =>
      endpointsOf((stack) => {
        const vpc = vpcOf(stack, PRIVATE_ISOLATED);
        new FairQueue(stack, 'First', { vpc });
        new FairQueue(stack, 'Second', { vpc });
      }),
    ).toThrow('made by Host/First/Network, and AWS allows one with private DNS: set endpoint to existing');
  });

  it('made by one queue serves another that is told that there is one', () => {
    const stack = embed((host) => {
      const first = new FairQueue(host, 'First');
      new FairQueue(host, 'Second', { vpc: first.vpc, settings: { endpoint: 'existing' } });
    });
    const [[, endpoint] = [], ...rest] = stack.ofType('AWS::EC2::VPCEndpoint');
    expect(rest).toEqual([]);
    const targets = JSON.stringify(endpoint?.Properties.PolicyDocument).match(/\w+Functions(Dispatch|Process)/g);
    expect(targets?.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'FirstFunctionsDispatch',
      'FirstFunctionsProcess',
      'SecondFunctionsDispatch',
      'SecondFunctionsProcess',
    ]);
    const callers = stack
      .ofType('AWS::EC2::SecurityGroupIngress')
      .filter(([, { Properties }]) => Properties.FromPort === 443)
      .map(([, { Properties }]) => Properties.SourceSecurityGroupId['Fn::GetAtt'][0]);
    expect(callers).toEqual([
      expect.stringMatching(/^FirstNetworkFunctionsGroup/),
      expect.stringMatching(/^SecondNetworkFunctionsGroup/),
    ]);
  });

  it('that somebody else has made is reached by all that invoke, anywhere in the network', () => {
    const stack = embed((host) => {
      new FairQueue(host, 'Queue', { vpc: vpcOf(host, PRIVATE_ISOLATED), settings: { endpoint: 'existing' } });
    });
    expect(stack.ofType('AWS::EC2::VPCEndpoint')).toEqual([]);
    const group = stack.ofType('AWS::EC2::SecurityGroup').find(([id]) => id.includes('FunctionsGroup'))?.[1];
    expect(group?.Properties.SecurityGroupEgress).toEqual([
      expect.objectContaining({
        CidrIp: { 'Fn::GetAtt': [expect.stringMatching(/^Vpc/), 'CidrBlock'] },
        FromPort: 443,
      }),
    ]);
  });

  it('cannot exist in a network that is yet to be made', () => {
    expect(() => embed((stack) => new FairQueue(stack, 'Queue', { settings: { endpoint: 'existing' } }))).toThrow(
      'endpoint is existing, and no vpc is: give the vpc',
    );
  });
});

const ofSecrets = (build: (stack: Stack) => void) =>
  endpointsOf(build).filter(([, { Properties }]) => JSON.stringify(Properties.ServiceName).includes('secretsmanager'));

describe('the endpoint of Secrets Manager', () => {
  const password = { redisAuth: 'password' } as const;

  it('is there for a password alone', () => {
    expect(ofSecrets((stack) => new FairQueue(stack, 'Queue'))).toEqual([]);
    const egress = { ...password, egress: 'ipv6', endpoint: 'none' } as const;
    expect(ofSecrets((stack) => new FairQueue(stack, 'Queue', { settings: egress }))).toEqual([]);
  });

  it('is good for reading the password, and nothing else', () => {
    const [endpoint, ...rest] = ofSecrets((stack) => new FairQueue(stack, 'Queue', { settings: password }));
    expect(rest).toEqual([]);
    expect(endpoint?.[1].Properties.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Principal: '*',
        Action: 'secretsmanager:GetSecretValue',
        Resource: { Ref: expect.stringMatching(/^QueueCacheSecret/) },
      },
    ]);
  });

  it('lets every function leave that reads it, where there is none', () => {
    const stack = embed(
      (host) => new FairQueue(host, 'Queue', { settings: { ...password, egress: 'nat', endpoint: 'none' } }),
    );
    const groups = stack
      .ofType('AWS::Lambda::Function')
      .map(([, { Properties }]) => JSON.stringify(Properties.VpcConfig.SecurityGroupIds));
    expect(groups.filter((group) => !group.includes('EgressGroup'))).toEqual([]);
  });
});
