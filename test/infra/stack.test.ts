import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/contract/routes.ts';
import { ofType, type Resource, type Synthesized, synthesize } from './template.ts';
import { variants } from './variants.ts';

const standard = synthesize(variants.standard);
const valkey = synthesize(variants.valkey);
const alone = synthesize(variants.alone);
const jwt = synthesize(variants.jwt);
const ipv6 = synthesize(variants.ipv6);
const nat = synthesize(variants.nat);
const stacks = { standard, valkey, alone, jwt, ipv6, nat };

const NAMES = ['dispatch', 'enqueue', 'monitor', 'process', 'tenants'];
const ASYNCHRONOUS = ['dispatch', 'monitor', 'process'];

const only = ([, resource]: [string, Resource], ...rest: unknown[]): Resource => {
  expect(rest).toEqual([]);
  return resource;
};
const one = (stack: Synthesized, type: string) => {
  const [first, ...rest] = ofType(stack, type);
  if (first === undefined) throw new Error(`No ${type} in the template`);
  return only(first, ...rest).Properties;
};
const functionOf = (stack: Synthesized, name: string) => stack.resources[stack.functions[name] ?? '']?.Properties;

const subnetsOfCache = (each: Synthesized) => one(each, 'AWS::ElastiCache::SubnetGroup').SubnetIds;
const blocksOfCache = (each: Synthesized) =>
  subnetsOfCache(each).map(({ Ref }: { Ref: string }) => [Ref, each.resources[Ref]?.Properties.CidrBlock]);
const withEgress = (stack: Synthesized) =>
  NAMES.filter((name) => JSON.stringify(functionOf(stack, name).VpcConfig.SecurityGroupIds).includes('EgressGroup'));

describe.each(Object.entries(stacks))('the stack (%s)', (_, stack) => {
  it('has the functions of the queue, on the newest runtime and arm64', () => {
    expect(Object.keys(stack.functions).toSorted()).toEqual(NAMES);
    for (const name of NAMES) {
      expect(functionOf(stack, name)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
    }
  });

  it('drops late and failed events of everything that is invoked without waiting', () => {
    const configured = ofType(stack, 'AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => {
      expect(Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
      return String(Properties.FunctionName.Ref);
    });
    expect(configured.toSorted()).toEqual(ASYNCHRONOUS.map((name) => String(stack.functions[name])).toSorted());
  });

  it('runs dispatch and monitor every minute, without making up for a missed one', () => {
    const scheduled = ofType(stack, 'AWS::Scheduler::Schedule').map(([, { Properties }]) => {
      expect(Properties.ScheduleExpression).toBe('rate(1 minute)');
      expect(Properties.State).toBe('ENABLED');
      expect(Properties.Target.RetryPolicy).toEqual({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
      const [target] = Properties.Target.Arn['Fn::GetAtt'];
      return String(NAMES.find((name) => stack.functions[name] === target));
    });
    expect(scheduled.toSorted()).toEqual(['dispatch', 'monitor']);
  });

  it('has an authorizer on every route of the contract, and no other route', () => {
    const keys = ofType(stack, 'AWS::ApiGatewayV2::Route').map(([, { Properties }]) => {
      expect(['AWS_IAM', 'JWT']).toContain(Properties.AuthorizationType);
      return String(Properties.RouteKey);
    });
    expect(keys.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('leads every route to the function that the contract names, which the gateway may invoke', () => {
    for (const [, { Properties }] of ofType(stack, 'AWS::ApiGatewayV2::Route')) {
      const integrationId = Properties.Target['Fn::Join'][1][1].Ref;
      const target = stack.resources[integrationId]?.Properties.IntegrationUri['Fn::GetAtt'][0];
      const route = routes.find(({ method, path }) => `${method} ${path}` === Properties.RouteKey);
      expect(target).toBe(stack.functions[route?.function ?? '']);
      const permissions = ofType(stack, 'AWS::Lambda::Permission').filter(
        ([, permission]) => permission.Properties.FunctionName['Fn::GetAtt'][0] === target,
      );
      expect(permissions).toHaveLength(1);
      expect(permissions[0]?.[1].Properties.Principal).toBe('apigateway.amazonaws.com');
    }
  });

  it('bounds what the API takes, and logs each request without a word of what a caller sent', () => {
    const stage = one(stack, 'AWS::ApiGatewayV2::Stage');
    expect(stage).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 1_000, ThrottlingBurstLimit: 2_000 },
    });
    const [group] = stage.AccessLogSettings.DestinationArn['Fn::GetAtt'];
    expect(stack.resources[group]?.Properties).toMatchObject({
      LogGroupName: expect.stringMatching(/^\/aws\/vendedlogs\/rota\/.+\/api$/),
      RetentionInDays: 30,
    });
    const format: Record<string, string> = JSON.parse(stage.AccessLogSettings.Format);
    expect(Object.keys(format)).toEqual(expect.arrayContaining(['requestId', 'routeKey', 'status', 'principal']));
    for (const variable of Object.values(format)) {
      expect(variable).toMatch(/^\$context\.[\w.]+$/);
      expect(variable).not.toMatch(/path|query|header|body|sourceIp|userAgent/i);
    }
  });

  it('keeps every key of the cache, encrypts it, and has it in cluster mode with one shard', () => {
    expect(one(stack, 'AWS::ElastiCache::ParameterGroup').Properties).toEqual({
      'cluster-enabled': 'yes',
      'maxmemory-policy': 'noeviction',
    });
    const group = ofType(stack, 'AWS::ElastiCache::ReplicationGroup')[0]?.[1];
    expect(group).toMatchObject({ DeletionPolicy: 'Snapshot', UpdateReplacePolicy: 'Snapshot' });
    expect(group?.Properties).toMatchObject({
      ClusterMode: 'enabled',
      NumNodeGroups: 1,
      ReplicasPerNodeGroup: stack.settings.replicas,
      AutomaticFailoverEnabled: true,
      MultiAZEnabled: stack.settings.replicas > 0,
      TransitEncryptionEnabled: true,
      TransitEncryptionMode: 'required',
      AtRestEncryptionEnabled: true,
    });
  });

  it('confines the user of the queue to its keys', () => {
    const user = ofType(stack, 'AWS::ElastiCache::User').find(
      ([, { Properties }]) => Properties.UserName !== 'default',
    )?.[1].Properties;
    expect(user.UserId).toBe(user.UserName);
    expect(user.UserName).toMatch(new RegExp(`^rota-${stack.settings.queue}-[0-9a-f]{8}$`));
    expect(user.AccessString.match(/~\S+/g)).toEqual([`~{rota:${stack.settings.queue}:*`]);
    expect(user.AccessString).not.toMatch(/\+@all|allkeys|allcommands|&/);
  });

  it('keeps what the cache hears to the functions', () => {
    const open = ofType(stack, 'AWS::EC2::SecurityGroup').flatMap(
      ([, { Properties }]) => Properties.SecurityGroupIngress ?? [],
    );
    expect(open).toEqual([]);
    for (const [, { Properties }] of ofType(stack, 'AWS::EC2::SecurityGroupIngress')) {
      expect(Properties.SourceSecurityGroupId['Fn::GetAtt'][0]).toMatch(/FunctionsGroup/);
      expect([443, 6380]).toContain(Properties.FromPort);
    }
  });

  it('puts the cache where a change of egress does not move it', () => {
    expect(blocksOfCache(stack)).toEqual(blocksOfCache(standard));
    for (const { Ref } of subnetsOfCache(stack)) {
      const routed = ofType(stack, 'AWS::EC2::SubnetRouteTableAssociation').filter(
        ([, { Properties }]) => Properties.SubnetId.Ref === Ref,
      );
      const tables = routed.map(([, { Properties }]) => Properties.RouteTableId.Ref);
      expect(tables).toHaveLength(1);
      expect(
        ofType(stack, 'AWS::EC2::Route').filter(([, { Properties }]) => tables.includes(Properties.RouteTableId.Ref)),
      ).toEqual([]);
    }
  });
});

const usersByName = (stack: Synthesized) =>
  Object.fromEntries(
    ofType(stack, 'AWS::ElastiCache::User').map(([, { Properties }]) => [Properties.UserName, Properties]),
  );
const sharedNames = (stack: Synthesized) =>
  Object.values(stack.resources)
    .flatMap(({ Properties }) => [
      Properties?.UserId,
      Properties?.UserGroupId,
      Properties?.LogGroupName,
      Properties?.FunctionName,
    ])
    .filter((name) => typeof name === 'string');

describe('the settings', () => {
  it('leave no way out of the network by default', () => {
    for (const type of [
      'AWS::EC2::NatGateway',
      'AWS::EC2::InternetGateway',
      'AWS::EC2::EgressOnlyInternetGateway',
      'AWS::EC2::Route',
    ]) {
      expect(ofType(standard, type)).toEqual([]);
    }
    expect(one(standard, 'AWS::EC2::VPCEndpoint')).toMatchObject({
      PrivateDnsEnabled: true,
      VpcEndpointType: 'Interface',
    });
  });

  it('give only process a way out where there is one', () => {
    expect(ofType(nat, 'AWS::EC2::NatGateway')).toHaveLength(1);
    expect(withEgress(nat)).toEqual(['process']);
    expect(withEgress(standard)).toEqual([]);
    // Without the endpoint those that invoke others need it too.
    expect(withEgress(ipv6)).toEqual(['dispatch', 'enqueue', 'process', 'tenants']);
  });

  it('take IPv6 as the way out, without a gateway that costs', () => {
    expect(ofType(ipv6, 'AWS::EC2::NatGateway')).toEqual([]);
    expect(ofType(ipv6, 'AWS::EC2::VPCEndpoint')).toEqual([]);
    expect(ofType(ipv6, 'AWS::EC2::EgressOnlyInternetGateway')).toHaveLength(1);
    expect(functionOf(ipv6, 'process').VpcConfig.Ipv6AllowedForDualStack).toBe(true);
    expect(functionOf(ipv6, 'dispatch').Environment.Variables.AWS_USE_DUALSTACK_ENDPOINT).toBe('true');
  });

  it('reserve a little more concurrency for processing than the capacity, and none elsewhere', () => {
    const reserved = (stack: Synthesized) => NAMES.map((name) => functionOf(stack, name).ReservedConcurrentExecutions);
    expect(reserved(standard)).toEqual([undefined, undefined, undefined, 50, undefined]);
    expect(functionOf(synthesize({ capacity: '3' }), 'process').ReservedConcurrentExecutions).toBe(5);
    expect(reserved(alone)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it('bind the timeout of the functions', () => {
    const timeouts = Object.fromEntries(NAMES.map((name) => [name, functionOf(standard, name).Timeout]));
    expect(timeouts).toEqual({ dispatch: 90, enqueue: 10, monitor: 55, process: 300, tenants: 29 });
  });

  it('choose IAM or tokens for the API', () => {
    expect(ofType(standard, 'AWS::ApiGatewayV2::Authorizer')).toEqual([]);
    expect(one(jwt, 'AWS::ApiGatewayV2::Authorizer')).toMatchObject({
      AuthorizerType: 'JWT',
      JwtConfiguration: { Issuer: 'https://issuer.example', Audience: ['rota', 'other'] },
    });
    for (const [, { Properties }] of ofType(jwt, 'AWS::ApiGatewayV2::Route')) {
      const access = routes.find(({ method, path }) => `${method} ${path}` === Properties.RouteKey)?.access;
      expect(Properties).toMatchObject({
        AuthorizationType: 'JWT',
        AuthorizationScopes: access === 'operate' ? ['admin'] : ['rota/enqueue', 'admin'],
      });
    }
  });

  it('lock the default user where the engine wants one', () => {
    expect(usersByName(standard).default).toMatchObject({ Engine: 'redis', AccessString: 'off -@all' });
    expect(Object.keys(usersByName(valkey))).not.toContain('default');
    expect(one(valkey, 'AWS::ElastiCache::ReplicationGroup')).toMatchObject({
      Engine: 'valkey',
      EngineVersion: '9.0',
      Durability: 'sync',
    });
  });

  it('begin the cache with a snapshot where one is named', () => {
    const restored = synthesize({ restoreFrom: 'orders-before-change' });
    expect(one(restored, 'AWS::ElastiCache::ReplicationGroup').SnapshotName).toBe('orders-before-change');
    expect(one(standard, 'AWS::ElastiCache::ReplicationGroup')).not.toHaveProperty('SnapshotName');
  });

  it('name nothing that two queues of one account would share', () => {
    expect(sharedNames(standard).filter((name) => sharedNames(alone).includes(name))).toEqual([]);
  });
});
