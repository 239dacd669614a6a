import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Resource } from './template.ts';

export interface Embedded {
  /** All of a type, by logical id. */
  ofType(type: string): [string, Resource][];
}

/**
 * The template of a stack that somebody else composes, without its bundles.
 *
 * @param build puts into the stack what is to be looked at
 */
export function embed(build: (stack: Stack) => void, { stackName = 'Host' } = {}): Embedded {
  // To load the rules takes seconds, and they are tested elsewhere.
  process.env.CDK_VALIDATION = 'false';
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Host', { stackName });
  build(stack);
  const resources: Record<string, Resource> = Template.fromStack(stack).toJSON().Resources;
  return { ofType: (type) => Object.entries(resources).filter(([, resource]) => resource.Type === type) };
}
