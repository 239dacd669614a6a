import { Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';

/** Where in a given network the parts of a queue go. */
export interface QueueSubnets {
  /**
   * Subnets of the cache. A later change replaces the cache, and with it the queue.
   *
   * @default isolated subnets, else private ones
   */
  readonly cache?: ec2.SubnetSelection;
  /**
   * Subnets of the functions. With the setting `egress`, those must have a route to a NAT or egress-only gateway.
   *
   * @default with `egress` private subnets that have a way out, else isolated subnets, else private ones
   */
  readonly functions?: ec2.SubnetSelection;
}

interface NetworkProps {
  readonly settings: Pick<Settings, 'egress' | 'endpoint'>;
  readonly vpc?: ec2.IVpc;
  readonly vpcSubnets?: QueueSubnets;
}

const FUNCTIONS_SUBNET_TYPE = {
  none: ec2.SubnetType.PRIVATE_ISOLATED,
  ipv6: ec2.SubnetType.PRIVATE_WITH_EGRESS,
  nat: ec2.SubnetType.PRIVATE_WITH_EGRESS,
} as const;

const HTTPS = ec2.Port.tcp(443);

/** A service of AWS that functions call, and how the endpoint by which they do is called. */
interface Service {
  readonly name: string;
  readonly id: string;
  readonly groupId: string;
  readonly calls: string;
  readonly service: ec2.InterfaceVpcEndpointAwsService;
}

const LAMBDA: Service = {
  name: 'Lambda',
  id: 'LambdaEndpoint',
  groupId: 'EndpointGroup',
  calls: 'Invocations',
  service: ec2.InterfaceVpcEndpointAwsService.LAMBDA,
};

const SECRETS: Service = {
  name: 'Secrets Manager',
  id: 'SecretsEndpoint',
  groupId: 'SecretsEndpointGroup',
  calls: 'Requests for a password',
  service: ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
};

interface Endpoint {
  readonly owner: Construct;
  readonly endpoint: ec2.InterfaceVpcEndpoint;
}

/** Whose endpoint of a service is where, for those who find one there already. */
const endpoints = new Map<Service, WeakMap<ec2.IVpc, Endpoint>>(
  [LAMBDA, SECRETS].map((service) => [service, new WeakMap()]),
);

/**
 * Private subnets for cache and functions, in a network made for the queue (two zones) or in a given one, without a way out
 * unless the settings ask for one.
 */
export class Network extends Construct {
  readonly vpc: ec2.IVpc;
  readonly cacheSubnets: ec2.SelectedSubnets;
  readonly functionSubnets: ec2.SubnetSelection;
  readonly functionsGroup: ec2.SecurityGroup;
  /** Lets its members leave the network. Absent when there is no way out. */
  readonly egressGroup?: ec2.SecurityGroup;
  /** Functions have to call the Lambda service by IPv6, the only way out there is. */
  readonly dualStackCalls: boolean;
  private readonly settings: NetworkProps['settings'];

  constructor(scope: Construct, id: string, { settings, vpc, vpcSubnets = {} }: NetworkProps) {
    super(scope, id);
    const { egress, endpoint } = settings;
    this.settings = settings;
    if (vpc === undefined && (endpoint === 'existing' || Object.keys(vpcSubnets).length > 0)) {
      const given = endpoint === 'existing' ? 'endpoint is existing' : 'vpcSubnets are given';
      throw new Error(`${given}, and no vpc is: give the vpc that has them, or leave that out`);
    }
    this.dualStackCalls = egress === 'ipv6' && endpoint === 'none';
    this.vpc = vpc ?? this.makeVpc();
    const isolated = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };
    const withEgress = { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS };
    const quiet = this.vpc.isolatedSubnets.length > 0 ? isolated : withEgress;
    const cache = vpcSubnets.cache ?? (vpc ? quiet : { subnetGroupName: 'Cache' });
    this.functionSubnets =
      vpcSubnets.functions ?? (vpc ? (egress === 'none' ? quiet : withEgress) : { subnetGroupName: 'Functions' });
    this.cacheSubnets = this.select(cache, 'cache');
    this.select(this.functionSubnets, 'functions');

    this.functionsGroup = this.group('FunctionsGroup', 'Functions of the queue');
    if (egress !== 'none') {
      this.egressGroup = this.group('EgressGroup', 'Functions that call hosts outside the network');
      const outside = egress === 'nat' ? ec2.Peer.anyIpv4() : ec2.Peer.anyIpv6();
      this.egressGroup.addEgressRule(outside, ec2.Port.allTcp(), 'Hosts that jobs call');
    }
    if (endpoint === 'existing') {
      // Whatever its own group, it is in this network.
      const inside = ec2.Peer.ipv4(this.vpc.vpcCidrBlock);
      this.functionsGroup.addEgressRule(inside, HTTPS, 'Endpoints of AWS services');
    }
  }

  /** A security group of this network that lets nothing in or out by itself. */
  group(id: string, description: string): ec2.SecurityGroup {
    return new ec2.SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
  }

  /**
   * Gives the functions of the queue a way to invoke these: an endpoint that is good for nothing else. The endpoint of another
   * queue of the same stack is good for these too from now on.
   *
   * @throws Error when the network has such an endpoint already.
   */
  connectToLambda(targets: readonly lambda.IFunction[]): void {
    this.connectTo(
      LAMBDA,
      'lambda:InvokeFunction',
      targets.map((target) => target.functionArn),
    );
  }

  /**
   * The same for reading these secrets.
   *
   * @throws Error when the network has such an endpoint already.
   */
  connectToSecrets(secrets: readonly secretsmanager.ISecret[]): void {
    if (secrets.length === 0) return;
    this.connectTo(
      SECRETS,
      'secretsmanager:GetSecretValue',
      secrets.map((secret) => secret.secretArn),
    );
  }

  private connectTo(service: Service, action: string, resources: string[]): void {
    if (this.settings.endpoint === 'none') return;
    const endpoint = this.settings.endpoint === 'create' ? this.makeEndpoint(service) : this.neighbour(service);
    endpoint?.addToPolicy(
      new iam.PolicyStatement({ principals: [new iam.StarPrincipal()], actions: [action], resources }),
    );
  }

  private makeVpc(): ec2.Vpc {
    const { egress } = this.settings;
    return new ec2.Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: egress === 'nat' ? 1 : 0,
      ipProtocol: egress === 'ipv6' ? ec2.IpProtocol.DUAL_STACK : ec2.IpProtocol.IPV4_ONLY,
      subnetConfiguration: [
        // Always there, always first: a later change of egress must not move the cache, which would replace it.
        { name: 'Cache', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 26 },
        { name: 'Functions', subnetType: FUNCTIONS_SUBNET_TYPE[egress], cidrMask: 20 },
        ...(egress === 'none' ? [] : [{ name: 'Public', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 26 }]),
      ],
    });
  }

  private select(selection: ec2.SubnetSelection, what: keyof QueueSubnets): ec2.SelectedSubnets {
    const hint = `choose private subnets for the ${what} with vpcSubnets.${what}, or give a vpc that has some`;
    let selected: ec2.SelectedSubnets;
    try {
      selected = this.vpc.selectSubnets(selection);
    } catch (error) {
      throw new Error(`The vpc has no subnets for the ${what}: ${hint}`, { cause: error });
    }
    // An imported network may have none of a kind without the selection being an error.
    if (selected.subnetIds.length === 0) throw new Error(`The vpc has no subnets for the ${what}: ${hint}`);
    if (selected.hasPublic) {
      throw new Error(`The subnets for the ${what} are public, where functions and caches cannot be reached: ${hint}`);
    }
    return selected;
  }

  private makeEndpoint(service: Service): ec2.InterfaceVpcEndpoint {
    const other = endpoints.get(service)?.get(this.vpc);
    if (other) {
      throw new Error(
        `The vpc has a ${service.name} endpoint already, made by ${other.owner.node.path}, and AWS allows one with private DNS: set endpoint to existing`,
      );
    }
    const group = this.group(service.groupId, `Endpoint of the ${service.name} service`);
    group.connections.allowFrom(this.functionsGroup, HTTPS, `${service.calls} by functions of the queue`);
    const endpoint = new ec2.InterfaceVpcEndpoint(this, service.id, {
      vpc: this.vpc,
      service: service.service,
      subnets: this.functionSubnets,
      securityGroups: [group],
      open: false,
    });
    endpoints.get(service)?.set(this.vpc, { owner: this, endpoint });
    return endpoint;
  }

  /** The endpoint that another queue of this stack has made here; across stacks the two would depend on each other. */
  private neighbour(service: Service): ec2.InterfaceVpcEndpoint | undefined {
    const made = endpoints.get(service)?.get(this.vpc);
    if (!made || Stack.of(made.owner) !== Stack.of(this)) return undefined;
    made.endpoint.connections.allowFrom(this.functionsGroup, HTTPS, `${service.calls} by functions of another queue`);
    return made.endpoint;
  }
}
