import { ArnFormat, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elasticache from 'aws-cdk-lib/aws-elasticache';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import { accessString } from './access-string.ts';
import type { QueueNames } from './names.ts';
import type { Network } from './network.ts';

interface CacheProps {
  readonly settings: Pick<Settings, 'queue' | 'engine' | 'nodeType' | 'replicas' | 'durability' | 'restoreFrom'>;
  readonly names: QueueNames;
  readonly network: Network;
}

/** Not 6379, which scanners of a network try first. */
const PORT = 6380;

/** Durability came with valkey 9, of which less is known: who does not ask for it stays on 8. */
const release = ({ engine, durability }: CacheProps['settings']) => {
  if (engine === 'redis') return { version: '7.1', family: 'redis7' };
  return durability === 'none' ? { version: '8.0', family: 'valkey8' } : { version: '9.0', family: 'valkey9' };
};

/** Names are checked by type, since no rule at synth sees a misspelt one: it fails minutes into a deploy. */
const parameters: Record<'cluster-enabled' | 'maxmemory-policy', string> = {
  'cluster-enabled': 'yes',
  // Every key is part of the queue: an evicted one is a lost job or a wrong count.
  'maxmemory-policy': 'noeviction',
};

/** What a function has to know to connect. The values are only known at deploy. */
interface Connection {
  readonly url: string;
  readonly cluster: boolean;
  readonly auth: 'iam';
  readonly name: string;
}

/**
 * The Redis of the queue: one shard in cluster mode from the first day, since going there later is a migration;
 * encrypted, and open to one user who is authenticated by IAM and sees the keys of this queue only.
 */
export class Cache extends Construct {
  readonly connection: Connection;
  private readonly group: elasticache.CfnReplicationGroup;
  private readonly user: elasticache.CfnUser;

  constructor(scope: Construct, id: string, { settings, names, network }: CacheProps) {
    super(scope, id);
    const { queue, engine, nodeType, replicas, durability, restoreFrom } = settings;
    const { version, family } = release(settings);

    const securityGroup = network.group('CacheGroup', 'Cache of the queue');
    securityGroup.connections.allowFrom(network.functionsGroup, ec2.Port.tcp(PORT), 'Commands of the functions');

    // IAM authentication wants the id to equal the name, in lower case.
    const userName = names.short('rota');
    this.user = new elasticache.CfnUser(this, 'User', {
      userId: userName,
      userName,
      engine,
      accessString: accessString(queue),
      authenticationMode: { Type: 'iam' },
    });
    const users = engine === 'redis' ? [this.user, this.lockedDefaultUser(names.short('rota-off'))] : [this.user];
    const userGroup = new elasticache.CfnUserGroup(this, 'UserGroup', {
      userGroupId: userName,
      engine,
      userIds: users.map((user) => user.ref),
    });

    const subnets = new elasticache.CfnSubnetGroup(this, 'Subnets', {
      description: 'Subnets of the cache',
      subnetIds: network.cacheSubnets.subnetIds,
    });
    const parameterGroup = new elasticache.CfnParameterGroup(this, 'Parameters', {
      cacheParameterGroupFamily: family,
      description: 'Cluster mode, nothing is ever evicted',
      properties: parameters,
    });
    this.group = new elasticache.CfnReplicationGroup(this, 'ReplicationGroup', {
      replicationGroupDescription: `Rota queue ${queue}`,
      engine,
      engineVersion: version,
      cacheNodeType: nodeType,
      cacheParameterGroupName: parameterGroup.ref,
      cacheSubnetGroupName: subnets.ref,
      securityGroupIds: [securityGroup.securityGroupId],
      port: PORT,
      clusterMode: 'enabled',
      numNodeGroups: 1,
      replicasPerNodeGroup: replicas,
      // Cluster mode demands it, even where there is no replica to fail over to.
      automaticFailoverEnabled: true,
      multiAzEnabled: replicas > 0,
      durability: durability === 'none' ? undefined : durability,
      snapshotName: restoreFrom || undefined,
      transitEncryptionEnabled: true,
      transitEncryptionMode: 'required',
      atRestEncryptionEnabled: true,
      autoMinorVersionUpgrade: true,
      userGroupIds: [userGroup.ref],
    });
    // Keeping the cache itself would block the deletion of its network.
    this.group.applyRemovalPolicy(RemovalPolicy.SNAPSHOT);
    Validations.of(this.group).acknowledge({
      id: 'AwsSolutions-AEC6',
      reason:
        'Its user is authenticated by IAM with tokens that live for 15 minutes, so there is no secret to keep or leak.',
    });
    if (replicas === 0) {
      Validations.of(this.group).acknowledge({
        id: 'AwsSolutions-AEC4',
        reason:
          'With `replicas` set to 0 there is no node for a second zone; the settings say that a failed node then loses the queue.',
      });
    }

    this.connection = {
      url: `rediss://${userName}@${this.group.attrConfigurationEndPointAddress}:${this.group.attrConfigurationEndPointPort}`,
      cluster: true,
      auth: 'iam',
      name: this.group.ref,
    };
  }

  /** Id of the nth node of the shard, from 1, by which the service names its metrics. */
  nodeId(n: number): string {
    return `${this.group.ref}-0001-${String(n).padStart(3, '0')}`;
  }

  /** What a role needs to connect as the user of the queue. */
  connectStatement(): iam.PolicyStatement {
    const arn = (resource: string, resourceName: string) =>
      Stack.of(this).formatArn({
        service: 'elasticache',
        resource,
        resourceName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
    return new iam.PolicyStatement({
      actions: ['elasticache:Connect'],
      resources: [arn('replicationgroup', this.group.ref), arn('user', this.user.ref)],
    });
  }

  /** A group of this engine must have a user of that name; nobody is to use it. */
  private lockedDefaultUser(userId: string): elasticache.CfnUser {
    return new elasticache.CfnUser(this, 'DefaultUser', {
      userId,
      userName: 'default',
      engine: 'redis',
      accessString: 'off -@all',
      authenticationMode: { Type: 'no-password-required' },
    });
  }
}
