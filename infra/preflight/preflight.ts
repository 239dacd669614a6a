import { Command } from 'commander';
import { contextOption } from '../local/context-option.ts';
import { messageOf } from '../local/errors.ts';
import { planOf } from './plan.ts';
import { preflight } from './run.ts';

const program = new Command('npm run preflight --')
  .description('Asks AWS whether a deploy of the stack would go through, and says what to do where it would not.')
  .addOption(contextOption())
  .addHelpText(
    'after',
    `
Checks: credentials and region, bootstrap of the CDK, state of the stack, Lambda concurrency of the account, names in
ElastiCache, node type and engine in the region. It changes nothing; it needs sts:GetCallerIdentity,
cloudformation:DescribeStacks and DescribeStackResource, lambda:GetAccountSettings and GetFunctionConcurrency,
elasticache:DescribeUsers, DescribeCacheEngineVersions and DescribeReservedCacheNodesOfferings.

Give it the settings that the deploy gets:
  npm run preflight -- -c rota.queue=orders -c rota.nodeType=cache.m7g.large

It ends with status 0 when everything holds, else with 1.`,
  )
  .parse();

try {
  const { context } = program.opts<{ context: Record<string, string> }>();
  const ready = await preflight(planOf(context), ({ holds, sentence }) =>
    console.log(`${holds ? '✓' : '✗'} ${sentence}`),
  );
  process.exitCode = ready ? 0 : 1;
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
