import { RemovalPolicy } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from '../../functions/lib/config/table.ts';

interface LogGroupProps {
  readonly settings: Pick<Settings, 'logRetentionDays'>;
  readonly logGroupName: string;
}

/** A log of the queue, which goes with the queue: it tells of what is there, and holds nothing that is needed afterwards. */
export const makeLogGroup = (scope: Construct, id: string, { settings, logGroupName }: LogGroupProps): logs.LogGroup =>
  new logs.LogGroup(scope, id, {
    logGroupName,
    // The enumeration is nothing but the numbers that the setting allows.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
