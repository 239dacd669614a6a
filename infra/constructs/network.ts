import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';

interface NetworkProps {
  readonly settings: Pick<Settings, 'egress' | 'endpoint'>;
}

const FUNCTIONS_SUBNET_TYPE = {
  none: ec2.SubnetType.PRIVATE_ISOLATED,
  ipv6: ec2.SubnetType.PRIVATE_WITH_EGRESS,
  nat: ec2.SubnetType.PRIVATE_WITH_EGRESS,
} as const;

/** Two zones of private subnets, without a way out unless the settings ask for one. */
export class Network extends Construct {
  readonly vpc: ec2.Vpc;
  readonly cacheSubnets: ec2.SubnetSelection = { subnetGroupName: 'Cache' };
  readonly functionSubnets: ec2.SubnetSelection = { subnetGroupName: 'Functions' };
  readonly functionsGroup: ec2.SecurityGroup;
  /** Lets its members leave the network. Absent when there is no way out. */
  readonly egressGroup?: ec2.SecurityGroup;
  /** Functions have to call the Lambda service by IPv6, the only way out there is. */
  readonly dualStackCalls: boolean;

  constructor(scope: Construct, id: string, { settings: { egress, endpoint } }: NetworkProps) {
    super(scope, id);
    this.dualStackCalls = egress === 'ipv6' && !endpoint;
    this.vpc = new ec2.Vpc(this, 'Vpc', {
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
    this.functionsGroup = this.group('FunctionsGroup', 'Functions of the queue');
    if (egress !== 'none') {
      this.egressGroup = this.group('EgressGroup', 'Functions that call hosts outside the network');
      const outside = egress === 'nat' ? ec2.Peer.anyIpv4() : ec2.Peer.anyIpv6();
      this.egressGroup.addEgressRule(outside, ec2.Port.allTcp(), 'Hosts that jobs call');
    }
    if (endpoint) this.addLambdaEndpoint();
  }

  /** A security group of this network that lets nothing in or out by itself. */
  group(id: string, description: string): ec2.SecurityGroup {
    return new ec2.SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
  }

  private addLambdaEndpoint(): void {
    const group = this.group('EndpointGroup', 'Endpoint of the Lambda service');
    group.connections.allowFrom(this.functionsGroup, ec2.Port.tcp(443), 'Invocations by functions of the queue');
    this.vpc.addInterfaceEndpoint('LambdaEndpoint', {
      service: ec2.InterfaceVpcEndpointAwsService.LAMBDA,
      subnets: this.functionSubnets,
      securityGroups: [group],
      open: false,
    });
  }
}
