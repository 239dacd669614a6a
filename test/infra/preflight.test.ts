import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Finding } from '../../infra/preflight/checks.ts';
import { planOf } from '../../infra/preflight/plan.ts';
import { preflight } from '../../infra/preflight/run.ts';
import { type AwsAccount, serveAccount } from '../support/aws-account.ts';

const plan = planOf({ 'rota.queue': 'orders' });

const missing = (message: string) => ({ status: 400, code: 'ValidationError', message });
const stacks = (name: string, status: string, outputs = '') => ({
  result: `<Stacks><member><StackName>${name}</StackName><CreationTime>2026-11-30T10:00:00Z</CreationTime><StackStatus>${status}</StackStatus><Outputs>${outputs}</Outputs></member></Stacks>`,
});
const bootstrapped = (version: number) =>
  stacks(
    'CDKToolkit',
    'CREATE_COMPLETE',
    `<member><OutputKey>BootstrapVersion</OutputKey><OutputValue>${version}</OutputValue></member>`,
  );
const concurrency = (total: number, unreserved: number) => ({
  json: { AccountLimit: { ConcurrentExecutions: total, UnreservedConcurrentExecutions: unreserved } },
});

/** An account in which the stack can be deployed for the first time. The two questions about stacks have their own answers. */
const ready: AwsAccount = {
  GetCallerIdentity: { result: '<Account>111111111111</Account><Arn>arn:aws:iam::111111111111:user/ada</Arn>' },
  'DescribeStacks CDKToolkit': bootstrapped(21),
  'DescribeStacks rota-orders': missing('Stack with id rota-orders does not exist'),
  GetAccountSettings: concurrency(1000, 1000),
  DescribeUsers: { status: 404, code: 'UserNotFound', message: 'User not found' },
  DescribeCacheEngineVersions: {
    result:
      '<CacheEngineVersions><CacheEngineVersion><Engine>redis</Engine></CacheEngineVersion></CacheEngineVersions>',
  },
  DescribeReservedCacheNodesOfferings: {
    result:
      '<ReservedCacheNodesOfferings><ReservedCacheNodesOffering><Duration>1</Duration></ReservedCacheNodesOffering></ReservedCacheNodesOfferings>',
  },
};

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ended.splice(0)) await end();
});

beforeEach(() => {
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL_LAMBDA']) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent');
  vi.stubEnv('AWS_REGION', 'eu-north-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIATEST');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});

const sentences = (list: Finding[]) => list.map(({ sentence }) => sentence);

async function run(changes: AwsAccount = {}): Promise<{ passes: boolean; faults: string[]; all: string[] }> {
  const { url, close } = await serveAccount({ ...ready, ...changes });
  ended.push(close);
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  const findings: Finding[] = [];
  const passes = await preflight(plan, (finding) => findings.push(finding));
  return { passes, faults: sentences(findings.filter(({ holds }) => !holds)), all: sentences(findings) };
}

describe('before a deploy', () => {
  it('says of an account that is ready what it has', async () => {
    const { passes, faults, all } = await run();
    expect({ passes, faults }).toEqual({ passes: true, faults: [] });
    expect(all).toEqual([
      'You are arn:aws:iam::111111111111:user/ada in account 111111111111, region eu-north-1.',
      'The CDK is bootstrapped, in version 21.',
      'There is no stack rota-orders yet; it will be made.',
      'Of 1000 concurrent executions 1000 are unreserved, which is enough for the 50 of processing.',
      `The names of the queue are free (${plan.userIds.join(', ')}).`,
      'The region has redis 7.1 and nodes of type cache.t4g.small.',
    ]);
  });

  it.each<[string, AwsAccount, RegExp]>([
    [
      'no bootstrap',
      { 'DescribeStacks CDKToolkit': missing('Stack with id CDKToolkit does not exist') },
      /run npx cdk bootstrap\.$/,
    ],
    [
      'an old bootstrap',
      { 'DescribeStacks CDKToolkit': bootstrapped(3) },
      /in version 3, and the stack needs \d+: run/,
    ],
    [
      'a failed first deploy',
      { 'DescribeStacks rota-orders': stacks('rota-orders', 'ROLLBACK_COMPLETE') },
      /delete-stack --stack-name rota-orders/,
    ],
    [
      'a deploy under way',
      { 'DescribeStacks rota-orders': stacks('rota-orders', 'CREATE_IN_PROGRESS') },
      /state CREATE_IN_PROGRESS/,
    ],
    [
      'a new account',
      { GetAccountSettings: concurrency(10, 10) },
      /reserves 50 of the 10 unreserved .* raised to 150 or more, or deploy with -c rota\.reserveConcurrency=false/,
    ],
    [
      'a user of that name',
      { DescribeUsers: { result: '<Users></Users>' } },
      /ElastiCache has users rota-orders-\S+, rota-off-orders-\S+ already/,
    ],
    [
      'no such engine',
      { DescribeCacheEngineVersions: { result: '<CacheEngineVersions></CacheEngineVersions>' } },
      /This region has no redis 7\.1/,
    ],
    ['no such nodes', { DescribeReservedCacheNodesOfferings: { result: '' } }, /no nodes of type cache\.t4g\.small/],
    [
      'credentials with too few rights',
      { GetAccountSettings: { status: 403, code: 'AccessDeniedException', message: 'no' } },
      /The concurrency of the account could not be checked, since the credentials may not/,
    ],
    [
      'old credentials',
      { GetCallerIdentity: { status: 403, code: 'ExpiredToken', message: 'expired' } },
      /does not accept the credentials \(ExpiredToken/,
    ],
  ])('says what to do about %s', async (_, changes, sentence) => {
    const { passes, faults } = await run({
      ...changes,
      ...('DescribeStacks rota-orders' in changes && {
        DescribeStackResource: {
          result: '<StackResourceDetail><PhysicalResourceId>own</PhysicalResourceId></StackResourceDetail>',
        },
        GetFunctionConcurrency: { json: { ReservedConcurrentExecutions: 0 } },
      }),
    });
    expect(passes).toBe(false);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
  });

  it('counts what the stack that is there has reserved already as its own', async () => {
    const { passes, all } = await run({
      'DescribeStacks rota-orders': stacks('rota-orders', 'UPDATE_COMPLETE'),
      DescribeStackResource: {
        result: '<StackResourceDetail><PhysicalResourceId>own</PhysicalResourceId></StackResourceDetail>',
      },
      GetFunctionConcurrency: { json: { ReservedConcurrentExecutions: 50 } },
      GetAccountSettings: concurrency(150, 100),
    });
    expect(passes).toBe(true);
    expect(all).toContain('Of 150 concurrent executions 150 are unreserved, which is enough for the 50 of processing.');
  });
});

/** The one sentence that a run without an answer comes to. */
const only = async () => {
  const findings: Finding[] = [];
  expect(await preflight(plan, (finding) => findings.push(finding))).toBe(false);
  expect(findings).toHaveLength(1);
  return findings[0]?.sentence;
};

describe('without an account to ask', () => {
  it('says that there are no credentials', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    expect(await only()).toMatch(/^There are no AWS credentials: set AWS_PROFILE/);
  });

  it('says that there is no region', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_DEFAULT_REGION', undefined);
    expect(await only()).toMatch(/^There is no region: set AWS_REGION/);
  });

  it('says that AWS cannot be reached', async () => {
    const { url, close } = await serveAccount({});
    await close();
    vi.stubEnv('AWS_ENDPOINT_URL', url);
    expect(await only()).toMatch(/^AWS cannot be reached \(ECONNREFUSED\)/);
  });
});
