import {
  type CloudFormationClient,
  DescribeStackResourceCommand,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import {
  DescribeCacheEngineVersionsCommand,
  DescribeReservedCacheNodesOfferingsCommand,
  DescribeUsersCommand,
  type ElastiCacheClient,
  UserNotFoundFault,
} from '@aws-sdk/client-elasticache';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Plan } from './plan.ts';

/** What one check says: whether it holds, and in a sentence what was found and what to do. */
export interface Finding {
  holds: boolean;
  sentence: string;
}

const holds = (sentence: string): Finding => ({ holds: true, sentence });
const fails = (sentence: string): Finding => ({ holds: false, sentence });

/** Lambda refuses a reservation that would leave an account fewer. */
const LEAST_UNRESERVED = 100;

/** The stack of that name, or undefined when there is none. */
export async function findStack(client: CloudFormationClient, name: string): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName: name }))).Stacks?.[0];
  } catch (error) {
    const isMissing =
      error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');
    if (isMissing) return undefined;
    throw error;
  }
}

/** Whether the CDK has been bootstrapped, in a version that the stack can be deployed with. */
export async function checkBootstrap(client: CloudFormationClient, { bootstrapVersion }: Plan): Promise<Finding> {
  const stack = await findStack(client, 'CDKToolkit');
  if (!stack) return fails('The CDK is not bootstrapped in this account and region: run npx cdk bootstrap.');
  const output = stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue;
  const version = Number(output ?? 0);
  if (version >= bootstrapVersion) return holds(`The CDK is bootstrapped, in version ${version}.`);
  return fails(
    `The CDK is bootstrapped in version ${version}, and the stack needs ${bootstrapVersion}: run npx cdk bootstrap again.`,
  );
}

/** Whether a stack of this name can be made or updated. */
export function checkStack(stack: Stack | undefined, { stackName }: Plan): Finding {
  const status = stack?.StackStatus ?? '';
  if (!stack) return holds(`There is no stack ${stackName} yet; it will be made.`);
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') {
    return fails(
      `Stack ${stackName} is what a failed first deploy left (${status}): remove it with aws cloudformation delete-stack --stack-name ${stackName}.`,
    );
  }
  if (/IN_PROGRESS|FAILED/.test(status)) {
    return fails(
      `Stack ${stackName} is in state ${status}: wait for it, or repair it in the console, before you deploy.`,
    );
  }
  return holds(`Stack ${stackName} is there (${status}); it will be updated.`);
}

/** Whether the account's concurrency has room for what processing reserves. */
export async function checkConcurrency(
  clients: { lambda: LambdaClient; cloudFormation: CloudFormationClient },
  plan: Plan,
  stack: Stack | undefined,
): Promise<Finding> {
  const { AccountLimit } = await clients.lambda.send(new GetAccountSettingsCommand({}));
  const total = AccountLimit?.ConcurrentExecutions ?? 0;
  const unreserved = AccountLimit?.UnreservedConcurrentExecutions ?? 0;
  if (!plan.processing) {
    return holds(
      `Processing reserves no concurrency; it shares ${unreserved} with the other functions of the account.`,
    );
  }
  const { logicalId, reservedConcurrency: wanted } = plan.processing;
  const free = unreserved + (stack ? await reservedBy(clients, plan.stackName, logicalId) : 0);
  if (free - wanted >= LEAST_UNRESERVED) {
    return holds(
      `Of ${total} concurrent executions ${free} are unreserved, which is enough for the ${wanted} of processing.`,
    );
  }
  const missing = wanted + LEAST_UNRESERVED - free;
  return fails(
    `Processing reserves ${wanted} of the ${free} unreserved concurrent executions of the account, and Lambda keeps ${LEAST_UNRESERVED} of them unreserved: have the quota raised to ${total + missing} or more, or deploy with -c rota.reserveConcurrency=false.`,
  );
}

/** What the stack that is there has reserved for processing, which an update gives back. */
async function reservedBy(
  { lambda, cloudFormation }: { lambda: LambdaClient; cloudFormation: CloudFormationClient },
  stackName: string,
  logicalId: string,
): Promise<number> {
  const { StackResourceDetail } = await cloudFormation.send(
    new DescribeStackResourceCommand({ StackName: stackName, LogicalResourceId: logicalId }),
  );
  const { ReservedConcurrentExecutions } = await lambda.send(
    new GetFunctionConcurrencyCommand({ FunctionName: StackResourceDetail?.PhysicalResourceId }),
  );
  return ReservedConcurrentExecutions ?? 0;
}

/** Whether the ids of the cache's users are free, where the stack is not there yet to have them itself. */
export async function checkNames(
  client: ElastiCacheClient,
  { userIds, stackName }: Plan,
  stack: Stack | undefined,
): Promise<Finding> {
  if (stack) return holds('The names of the queue are those of the stack that is there.');
  const taken: string[] = [];
  for (const UserId of userIds) {
    try {
      await client.send(new DescribeUsersCommand({ UserId }));
      taken.push(UserId);
    } catch (error) {
      if (!(error instanceof UserNotFoundFault)) throw error;
    }
  }
  if (taken.length === 0) return holds(`The names of the queue are free (${userIds.join(', ')}).`);
  return fails(
    `ElastiCache has users ${taken.join(', ')} already, without a stack ${stackName}: delete them, or choose another name with -c rota.queue.`,
  );
}

/** Whether the region offers the node type and the version of the engine. */
export async function checkCache(client: ElastiCacheClient, { cache }: Plan): Promise<Finding> {
  const { nodeType, engine, engineVersion } = cache;
  const versions = await client.send(
    new DescribeCacheEngineVersionsCommand({ Engine: engine, EngineVersion: engineVersion }),
  );
  if (!versions.CacheEngineVersions?.length) {
    return fails(`This region has no ${engine} ${engineVersion}: choose another region, or another -c rota.engine.`);
  }
  const offers = await client.send(
    new DescribeReservedCacheNodesOfferingsCommand({ CacheNodeType: nodeType, MaxRecords: 20 }),
  );
  if (!offers.ReservedCacheNodesOfferings?.length) {
    return fails(`This region has no nodes of type ${nodeType}: choose another with -c rota.nodeType.`);
  }
  return holds(`The region has ${engine} ${engineVersion} and nodes of type ${nodeType}.`);
}
