import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { parseSettings } from '../../functions/lib/config/parse.ts';
import { textOf } from '../local/template.ts';
import { RotaStack } from '../rota-stack.ts';

/** What a deploy will ask of the account. */
export interface Plan {
  stackName: string;
  bootstrapVersion: number;
  /** The function that reserves concurrency, unless none does. */
  processing: { logicalId: string; reservedConcurrency: number } | undefined;
  cache: { nodeType: string; engine: string; engineVersion: string };
  /** Ids of the users that it makes in ElastiCache, of which each must be free. */
  userIds: string[];
}

const CDK_JSON = join(import.meta.dirname, '../../cdk.json');

/**
 * Reads from the stack itself, without its bundles, what it needs.
 *
 * @param context settings as `-c` gives them, over those of cdk.json
 * @throws SettingsError when they cannot be used
 */
export function planOf(context: Readonly<Record<string, string>>): Plan {
  // What the template needs is the question here, not whether it breaks a rule.
  process.env.CDK_VALIDATION = 'false';
  const app = new App({
    context: { ...JSON.parse(readFileSync(CDK_JSON, 'utf8')).context, ...context, 'aws:cdk:bundling-stacks': [] },
  });
  const settings = parseSettings(app.node.getAllContext(), { alone: true });
  const stack = new RotaStack(app, 'Rota', { settings, stackName: `rota-${settings.queue}` });
  const artifact = app.synth().getStackArtifact(stack.artifactId);
  const resources: Record<string, { Type: string; Properties: Record<string, unknown> }> = artifact.template.Resources;
  const ofType = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type);
  const [processing] = ofType('AWS::Lambda::Function').flatMap(([logicalId, { Properties }]) => {
    const reserved = Properties.ReservedConcurrentExecutions;
    return reserved === undefined ? [] : [{ logicalId, reservedConcurrency: Number(reserved) }];
  });
  const cache = ofType('AWS::ElastiCache::ReplicationGroup')[0]?.[1].Properties ?? {};
  return {
    stackName: stack.stackName,
    bootstrapVersion: artifact.requiresBootstrapStackVersion ?? 0,
    processing,
    cache: {
      nodeType: textOf(cache.CacheNodeType),
      engine: textOf(cache.Engine),
      engineVersion: textOf(cache.EngineVersion),
    },
    userIds: ofType('AWS::ElastiCache::User').map(([, { Properties }]) => textOf(Properties.UserId)),
  };
}
