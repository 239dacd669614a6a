import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { readSettings } from '../../functions/lib/config/parse.ts';
import type { GivenSettings, Settings } from '../../functions/lib/config/table.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Cache } from './cache.ts';
import { QueueDashboard } from './dashboard.ts';
import { FlowLog } from './flow-log.ts';
import { Functions, type Processor } from './functions.ts';
import { Grants, type Trust } from './grants.ts';
import { Insights } from './insights.ts';
import { QueueMetrics } from './metrics.ts';
import { QueueNames } from './names.ts';
import { Network, type QueueSubnets } from './network.ts';
import { Schedules } from './schedules.ts';

export interface FairQueueProps {
  /**
   * Name, plans, limits, auth of the API, sizes: whatever differs from the defaults, in the nesting of the table of settings.
   *
   * @default every setting has its default, as the README lists them
   */
  readonly settings?: GivenSettings;
  /**
   * Network to place cache and functions in. It needs private subnets, and for the setting `egress` a way out of them.
   *
   * @default a network of two zones is made, without a way out unless `egress` asks for one
   */
  readonly vpc?: ec2.IVpc;
  /**
   * Where in the given network.
   *
   * @default chosen by kind of subnet
   */
  readonly vpcSubnets?: QueueSubnets;
  /**
   * Your own job types.
   *
   * @default the job types that ship: echo, sleep, fail and webhook
   */
  readonly processor?: Processor;
  /**
   * Where alarms are told, when they fire and when all is well again.
   *
   * @default a topic is made; see `alarms.topic`
   */
  readonly alarmsTopic?: sns.ITopic;
}

/**
 * A whole queue: cache, functions, API, schedules. Several may live in one stack, also under one name.
 *
 * As a grantee it stands for the function that runs the jobs: `bucket.grantRead(queue)`. As an end of connections it stands for
 * all functions of the queue.
 *
 * The ids in here are part of what is deployed: another one means another resource, and another cache means an empty queue.
 */
export class FairQueue extends Construct implements iam.IGrantable, ec2.IConnectable {
  readonly settings: Settings;
  readonly vpc: ec2.IVpc;
  readonly cache: Cache;
  readonly functions: Functions;
  readonly api: Api;
  /** Metrics of this queue, for alarms and dashboards of your own. */
  readonly metrics: QueueMetrics;
  readonly alarms: Alarms;
  readonly grantPrincipal: iam.IPrincipal;
  readonly connections: ec2.Connections;
  private readonly grants: Grants;

  /** @throws SettingsError naming every setting that cannot be used; Error when the network cannot. */
  constructor(scope: Construct, id: string, props: FairQueueProps = {}) {
    super(scope, id);
    // The local runner sets this key: on one machine jobs reach their hosts without the network that the stack describes.
    const local = this.node.tryGetContext('rota:local') === 'true';
    const settings = readSettings(props.settings ?? {}, { local });
    const names = new QueueNames(this, settings.queue);
    const network = new Network(this, 'Network', { ...props, settings });
    // A given network is watched, or not, by whoever gives it.
    if (!props.vpc) new FlowLog(this, 'FlowLog', { settings, names, vpc: network.vpc });
    this.settings = settings;
    this.vpc = network.vpc;
    this.cache = new Cache(this, 'Cache', { settings, names, network });
    this.functions = new Functions(this, 'Functions', { ...props, settings, names, network, cache: this.cache });
    network.connectToLambda([this.functions.dispatch, this.functions.process]);
    network.connectToSecrets(this.cache.secret ? [this.cache.secret] : []);
    this.api = new Api(this, 'Api', { settings, names, functions: this.functions });
    this.grants = new Grants(this, 'Grants', { settings, api: this.api, functions: this.functions });
    new Schedules(this, 'Schedules', {
      everyMinute: { dispatch: this.functions.dispatch, monitor: this.functions.monitor },
    });
    this.metrics = new QueueMetrics({ settings, names, functions: this.functions, cache: this.cache, api: this.api });
    this.alarms = new Alarms(this, 'Alarms', { settings, names, metrics: this.metrics, topic: props.alarmsTopic });
    if (settings.dashboard) {
      new QueueDashboard(this, 'Dashboard', { settings, names, metrics: this.metrics, alarms: this.alarms });
    }
    new Insights(this, 'Insights', { names, functions: this.functions });
    this.grantPrincipal = this.functions.process.grantPrincipal;
    this.connections = network.functionsGroup.connections;
  }

  /** Roles for the accounts of the setting `trustedAccounts`. */
  get roles(): Grants['roles'] {
    return this.grants.roles;
  }

  /**
   * Lets a role or user enqueue and nothing else: by `POST /v1/jobs`, where the API knows its callers by IAM, and by invoking the
   * function `enqueue` itself. Who may do either names the tenant and is believed.
   *
   * @throws Error when the grantee has no policy in this account.
   */
  grantEnqueue(grantee: iam.IGrantable): iam.Grant {
    return this.grants.enqueue(grantee);
  }

  /**
   * Lets a role or user call every route of the API.
   *
   * @throws Error when the API knows its callers by token, or the grantee has no policy in this account.
   */
  grantOperate(grantee: iam.IGrantable): iam.Grant {
    return this.grants.operate(grantee);
  }

  /** A role with the rights of {@link grantEnqueue}, for callers of other accounts. */
  producerRole(id: string, trust: Trust): iam.Role {
    return this.grants.role(this, id, 'enqueue', trust);
  }

  /** A role with the rights of {@link grantOperate}, for callers of other accounts. */
  operatorRole(id: string, trust: Trust): iam.Role {
    return this.grants.role(this, id, 'operate', trust);
  }
}
