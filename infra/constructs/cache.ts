import { ArnFormat, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elasticache from 'aws-cdk-lib/aws-elasticache';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import { accessString } from './access-string.ts';
import type { QueueNames } from './names.ts';
import type { Network } from './network.ts';

interface CacheProps {
  readonly settings: Pick<
    Settings,
    'queue' | 'engine' | 'nodeType' | 'replicas' | 'durability' | 'restoreFrom' | 'redisAuth'
  >;
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
  readonly auth: Settings['redisAuth'];
  readonly name: string;
  readonly secret: string;
}

/**
 * The Redis of the queue: one shard in cluster mode from the first day, since going there later is a migration;
 * encrypted, and open to one user, authenticated by IAM or by a password, who sees the keys of this queue only.
 */
export class Cache extends Construct {
  readonly connection: Connection;
  private readonly group: elasticache.CfnReplicationGroup;
  private readonly user: elasticache.CfnUser;
  /** With the password of its user, where there is one. */
  readonly secret?: secretsmanager.ISecret;

  constructor(scope: Construct, id: string, { settings, names, network }: CacheProps) {
    super(scope, id);
    const { queue, engine, nodeType, replicas, durability, restoreFrom, redisAuth } = settings;
    const { version, family } = release(settings);

    const securityGroup = network.group('CacheGroup', 'Cache of the queue');
    securityGroup.connections.allowFrom(network.functionsGroup, ec2.Port.tcp(PORT), 'Commands of the functions');

    // IAM authentication wants the id to equal the name, in lower case.
    const userName = names.short('rota');
    if (redisAuth === 'password') this.secret = this.makeSecret(queue, userName);
    this.user = new elasticache.CfnUser(this, 'User', {
      userId: userName,
      userName,
      engine,
      accessString: accessString(queue),
      authenticationMode: this.secret
        ? { Type: 'password', Passwords: [this.secret.secretValueFromJson('password').unsafeUnwrap()] }
        : { Type: 'iam' },
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
        'Its user is authenticated by the user group, with an access string of its own, which a token of the whole cache would exclude.',
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
      auth: redisAuth,
      name: this.group.ref,
      secret: this.secret?.secretArn ?? '',
    };
  }

  /** Id of the nth node of the shard, from 1, by which the service names its metrics. */
  nodeId(n: number): string {
    return `${this.group.ref}-0001-${String(n).padStart(3, '0')}`;
  }

  /** What a role needs to connect as the user of the queue. */
  connectStatement(): iam.PolicyStatement {
    if (this.secret) {
      return new iam.PolicyStatement({
        actions: ['secretsmanager:GetSecretValue'],
        resources: [this.secret.secretArn],
      });
    }
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

  /** Made by Secrets Manager at deploy: the password is in no template. Its fields are those of AWS's own rotation functions. */
  private makeSecret(queue: string, username: string): secretsmanager.Secret {
    const secret = new secretsmanager.Secret(this, 'Secret', {
      description: `Password of the Redis user of the Rota queue ${queue}`,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ username }),
        generateStringKey: 'password',
        // Of 16 to 128 characters, some signs are refused by ElastiCache.
        passwordLength: 64,
        excludePunctuation: true,
      },
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'A rotation has to reach the user of ElastiCache by a function with a way out, which this network does not have; the runbook rotates by hand, without an interruption.',
    });
    return secret;
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
