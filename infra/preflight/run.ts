import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { ElastiCacheClient } from '@aws-sdk/client-elasticache';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { codeOf, messageOf } from '../local/errors.ts';
import {
  checkBootstrap,
  checkCache,
  checkConcurrency,
  checkNames,
  checkStack,
  type Finding,
  findStack,
} from './checks.ts';
import type { Plan } from './plan.ts';

const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ECONNRESET',
];

const sentence = (text: string): Finding => ({ holds: false, sentence: text });

/** What came of a check that AWS gave no answer to, in a sentence. */
function refusal(what: string, error: unknown): Finding {
  const name = error instanceof Error ? error.name : '';
  const message = messageOf(error);
  if (name === 'CredentialsProviderError') {
    return sentence(
      'There are no AWS credentials: set AWS_PROFILE, sign in with aws sso login, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  }
  if (message.includes('Region is missing')) {
    return sentence('There is no region: set AWS_REGION, or give the profile one.');
  }
  if (/Expired|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch/.test(name)) {
    return sentence(`AWS does not accept the credentials (${name}): renew them, and check the clock of this machine.`);
  }
  if (/AccessDenied|UnauthorizedOperation/.test(name)) {
    return sentence(`${what} could not be checked, since the credentials may not: ${message}`);
  }
  if (name === 'TimeoutError' || UNREACHABLE.includes(codeOf(error) ?? '')) {
    return sentence(`AWS cannot be reached (${codeOf(error) ?? message}): check the network, proxy and region.`);
  }
  return sentence(`${what} could not be checked: ${message}`);
}

async function attempt(what: string, check: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return refusal(what, error);
  }
}

/**
 * Asks the account that the credentials of this environment lead to whether a deploy would go through. Changes nothing.
 *
 * @param onFinding told of each finding as soon as it is there
 * @returns whether everything holds
 */
export async function preflight(plan: Plan, onFinding: (finding: Finding) => void): Promise<boolean> {
  // Twice is enough to get past a lost packet, and soon enough to say that there is no network.
  const options = { maxAttempts: 2, requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000 } };
  const cloudFormation = new CloudFormationClient(options);
  const elastiCache = new ElastiCacheClient(options);
  const lambda = new LambdaClient(options);
  const sts = new STSClient(options);

  const identity = await attempt('Who you are', async () => {
    const { Account, Arn } = await sts.send(new GetCallerIdentityCommand({}));
    return { holds: true, sentence: `You are ${Arn} in account ${Account}, region ${await sts.config.region()}.` };
  });
  onFinding(identity);
  // Every further answer would be the same.
  if (!identity.holds) return false;

  const found = findStack(cloudFormation, plan.stackName);
  const findings = await Promise.all([
    attempt('The bootstrap of the CDK', () => checkBootstrap(cloudFormation, plan)),
    attempt(`Stack ${plan.stackName}`, async () => checkStack(await found, plan)),
    attempt('The concurrency of the account', async () =>
      checkConcurrency({ lambda, cloudFormation }, plan, await found),
    ),
    attempt('The names of the queue', async () => checkNames(elastiCache, plan, await found)),
    attempt('What the region offers', () => checkCache(elastiCache, plan)),
  ]);
  for (const finding of findings) onFinding(finding);
  return findings.every((finding) => finding.holds);
}
