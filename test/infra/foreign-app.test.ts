import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { GalleryStack } from './foreign-app/stack.ts';
import { ofType, type Resource } from './template.ts';

/** The stack of the app, without bundles; nothing of this repository's `cdk.json` is known there. */
function synthesize(rules: boolean) {
  process.env.CDK_VALIDATION = String(rules);
  const checks = { '@aws-cdk/core:validateAgainstDefaultRules': rules, '@aws-cdk/core:strictCfnValidateErrors': rules };
  const app = new App({ context: { ...checks, 'aws:cdk:bundling-stacks': [] } });
  const stack = new GalleryStack(app, 'Gallery', { issuer: 'https://issuer.example' });
  const resources: Record<string, Resource> = Template.fromStack(stack).toJSON().Resources;
  return { resources, of: (type: string) => ofType({ resources }, type) };
}

it("passes CloudFormation's rules", () => {
  expect(() => synthesize(true)).not.toThrow();
});

const { resources, of } = synthesize(false);

it('uses the network of the app and makes none', () => {
  expect(of('AWS::EC2::VPC')).toHaveLength(1);
  expect(of('AWS::EC2::VPCEndpoint')).toHaveLength(1);
  const subnetsOf = (id: RegExp) =>
    of('AWS::Lambda::Function')
      .filter(([name]) => id.test(name))
      .flatMap(([, { Properties }]) => Properties.VpcConfig.SubnetIds.map(({ Ref }: { Ref: string }) => Ref));
  for (const subnet of subnetsOf(/^ImageQueue/)) expect(subnet).toMatch(/^VpcWorkSubnet/);
});

it('has two queues, each with a cache, an API and a user of its own', () => {
  for (const type of ['AWS::ElastiCache::ReplicationGroup', 'AWS::ApiGatewayV2::Api']) {
    const owners = of(type).map(([id]) => /^(Image|Mail)Queue/.exec(id)?.[1]);
    expect(owners).toEqual(['Image', 'Mail']);
  }
  const users = of('AWS::ElastiCache::User').filter(([, { Properties }]) => Properties.UserName !== 'default');
  expect(users.map(([, { Properties }]) => Properties.UserName.replace(/-[0-9a-f]{8}$/, ''))).toEqual([
    'rota-images',
    'rota-mail',
  ]);
});

it('gives the bucket to the function that runs the jobs of the one queue, and to no other', () => {
  const readers = of('AWS::IAM::Policy')
    .filter(([, { Properties }]) => JSON.stringify(Properties.PolicyDocument).includes('s3:GetObject'))
    .flatMap(([, { Properties }]) => Properties.Roles.map(({ Ref }: { Ref: string }) => Ref));
  expect(readers).toEqual([expect.stringMatching(/^ImageQueueFunctionsProcessRole/)]);
});

const variables = (id: RegExp) =>
  of('AWS::Lambda::Function').find(([name]) => id.test(name))?.[1].Properties.Environment.Variables;

it('hands the variables of the app to the function that runs the jobs, and its job types to enqueue', () => {
  const bucket = Object.keys(resources).find((id) => resources[id]?.Type === 'AWS::S3::Bucket');
  expect(variables(/^ImageQueueFunctionsProcess/)).toMatchObject({ BUCKET: { Ref: bucket } });
  expect(variables(/^ImageQueueFunctionsEnqueue/)).toMatchObject({ ROTA_JOB_TYPES: 'thumbnail,echo' });
  expect(variables(/^ImageQueueFunctionsEnqueue/)).not.toHaveProperty('BUCKET');
  expect(variables(/^MailQueueFunctionsProcess/)).not.toHaveProperty('BUCKET');
});
