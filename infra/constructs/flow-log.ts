import { Aws } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';
import { makeLogGroup } from './log-group.ts';
import type { QueueNames } from './names.ts';

interface FlowLogProps {
  readonly settings: Pick<Settings, 'logRetentionDays'>;
  readonly names: QueueNames;
  readonly vpc: ec2.IVpc;
}

/**
 * Says which traffic the network of the queue has refused. In a network whose members know each other by security group there
 * is none to expect, so it costs nothing until it says something; a log of all traffic would be billed by every connection.
 */
export class FlowLog extends Construct {
  constructor(scope: Construct, id: string, { settings, names, vpc }: FlowLogProps) {
    super(scope, id);
    const logGroup = makeLogGroup(this, 'Logs', {
      settings,
      logGroupName: `/rota/${names.full}/refused-traffic`,
    });
    const role = new iam.Role(this, 'Role', {
      description: 'Flow log of the network',
      assumedBy: new iam.ServicePrincipal('vpc-flow-logs.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    });
    role.addToPolicy(
      new iam.PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:DescribeLogStreams', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    new ec2.FlowLog(this, 'FlowLog', {
      resourceType: ec2.FlowLogResourceType.fromVpc(vpc),
      // The destination would have the role pass itself on, which nobody needs.
      destination: ec2.FlowLogDestination.toCloudWatchLogs(logGroup, role.withoutPolicyUpdates()),
      trafficType: ec2.FlowLogTrafficType.REJECT,
      maxAggregationInterval: ec2.FlowLogMaxAggregationInterval.TEN_MINUTES,
    });
  }
}
