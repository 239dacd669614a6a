import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { parseSettings } from '../../functions/lib/config/parse.ts';
import type { Settings } from '../../functions/lib/config/table.ts';
import { RotaStack } from '../../infra/rota-stack.ts';
import { addRulePacks } from '../../infra/rules.ts';

const CDK_JSON = new URL('../../cdk.json', import.meta.url);

export interface Resource {
  readonly Type: string;
  // Templates are data without types; what a test reads of them, it states.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly Properties: any;
}

export interface Synthesized {
  readonly template: Template;
  readonly settings: Settings;
  /** By logical id. */
  readonly resources: Readonly<Record<string, Resource>>;
  /** Logical ids of the functions, by their name. */
  readonly functions: Readonly<Record<string, string>>;
}

/**
 * The stack for these settings (`rota.<path>`) before its synth, and without its bundles: what they hold is not what is looked at.
 *
 * @param rules has the synth check the rules of CloudFormation and the packs, as `cdk synth` does.
 * @throws SettingsError when the settings are not usable.
 */
export function construct(overrides: Readonly<Record<string, unknown>> = {}, { rules = false } = {}) {
  const rota = Object.fromEntries(Object.entries(overrides).map(([path, value]) => [`rota.${path}`, value]));
  const context = JSON.parse(readFileSync(CDK_JSON, 'utf8')).context;
  // To load the rules takes seconds: only where they are what is tested.
  process.env.CDK_VALIDATION = String(rules);
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const settings = parseSettings(rota);
  if (rules) addRulePacks(app);
  return { app, settings, stack: new RotaStack(app, 'Rota', { settings }) };
}

/** The template for these settings, as a test reads it. */
export function synthesize(overrides: Readonly<Record<string, unknown>> = {}): Synthesized {
  const { settings, stack } = construct(overrides);
  const template = Template.fromStack(stack);
  const resources: Record<string, Resource> = template.toJSON().Resources;
  const functions: Record<string, string> = {};
  for (const [id, resource] of Object.entries(resources)) {
    const name = /^\/rota\/[^/]+\/(.+)$/.exec(logGroupOf(resources, resource) ?? '')?.[1];
    if (name !== undefined) functions[name] = id;
  }
  return { template, settings, resources, functions };
}

function logGroupOf(resources: Record<string, Resource>, resource: Resource): string | undefined {
  if (resource.Type !== 'AWS::Lambda::Function') return undefined;
  return resources[resource.Properties.LoggingConfig.LogGroup.Ref]?.Properties.LogGroupName;
}

/** All resources of a type, by logical id. */
export const ofType = ({ resources }: Pick<Synthesized, 'resources'>, type: string): [string, Resource][] =>
  Object.entries(resources).filter(([, resource]) => resource.Type === type);
