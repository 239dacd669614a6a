import { Aws, Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';

interface SchedulesProps {
  readonly everyMinute: Readonly<Record<string, lambda.IFunction>>;
}

/** What runs every minute. A missed minute is not made up for: the next one does all that is due. */
export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { everyMinute }: SchedulesProps) {
    super(scope, id);
    for (const [name, target] of Object.entries(everyMinute)) {
      const each = new Construct(this, name);
      const role = new iam.Role(each, 'Role', {
        description: `Schedule of ${name}`,
        assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
          conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
        }),
      });
      role.addToPolicy(
        new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target.functionArn] }),
      );
      new Schedule(each, 'Schedule', {
        description: `Runs ${name} every minute`,
        schedule: ScheduleExpression.rate(Duration.minutes(1)),
        target: new LambdaInvoke(target, {
          // The target would add every version of the function to the role.
          role: role.withoutPolicyUpdates(),
          input: ScheduleTargetInput.fromObject({}),
          retryAttempts: 0,
          maxEventAge: Duration.minutes(1),
        }),
      });
    }
  }
}
