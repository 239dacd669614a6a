import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Functions } from './functions.ts';
import type { QueueNames } from './names.ts';

interface InsightsProps {
  readonly names: QueueNames;
  readonly functions: Functions;
}

interface Rule {
  readonly from: 'enqueue' | 'process';
  readonly event: 'visit' | 'rejected';
  /** The field that is added up for each tenant. */
  readonly sum: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  TopServed: { from: 'process', event: 'visit', sum: 'jobs' },
  TopWait: { from: 'process', event: 'visit', sum: 'waitMs' },
  TopRejected: { from: 'enqueue', event: 'rejected', sum: 'jobs' },
};

/**
 * Contributor Insights over the lines that the functions log of each visit and each refusal: all tenants, not only those with
 * a metric of their own.
 */
export class Insights extends Construct {
  constructor(scope: Construct, id: string, { names, functions }: InsightsProps) {
    super(scope, id);
    for (const [name, { from, event, sum }] of Object.entries(RULES)) {
      new cloudwatch.CfnInsightRule(this, name, {
        ruleName: `rota-${names.full}-${name}`,
        ruleState: 'ENABLED',
        ruleBody: Stack.of(this).toJsonString({
          Schema: { Name: 'CloudWatchLogRule', Version: 1 },
          LogGroupNames: [functions[from].logGroup.logGroupName],
          LogFormat: 'JSON',
          Contribution: {
            Keys: ['$.tenant'],
            ValueOf: `$.${sum}`,
            Filters: [{ Match: '$.event', In: [event] }],
          },
          AggregateOn: 'Sum',
        }),
      });
    }
  }
}
