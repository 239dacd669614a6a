import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from '../functions/lib/config/table.ts';
import { FairQueue } from './constructs/fair-queue.ts';

interface RotaStackProps extends StackProps {
  readonly settings: Settings;
}

/** One queue, with its own network and its own cache. */
export class RotaStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: RotaStackProps) {
    super(scope, id, { description: `Rota: tenant-fair job queue "${settings.queue}"`, ...props });
    const queue = new FairQueue(this, 'Queue', { settings });
    new CfnOutput(this, 'ApiUrl', { value: queue.api.url, description: 'Where producers and operators call.' });
    new CfnOutput(this, 'EnqueueFunction', {
      value: queue.functions.enqueue.functionName,
      description: 'Takes the body of POST /v1/jobs by direct invoke.',
    });
    new CfnOutput(this, 'AlarmsTopic', {
      value: queue.alarms.topic.topicArn,
      description: 'Tells of alarms; subscribe whoever is to be woken.',
    });
    for (const [access, role] of Object.entries(queue.roles)) {
      new CfnOutput(this, access === 'enqueue' ? 'ProducerRole' : 'OperatorRole', {
        value: role.roleArn,
        description: `Taken on by callers of other accounts (${access}).`,
      });
    }
  }
}
