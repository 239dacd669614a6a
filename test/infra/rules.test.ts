import { type Acknowledgment, CfnResource, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { describe, expect, it, vi } from 'vitest';
import { construct } from './template.ts';
import { variants } from './variants.ts';

/** Rules of CloudFormation that the CDK acknowledges for what it renders itself: names of zones, options of a flow log. */
const OF_THE_LIBRARY = ['W3010', 'F3002', 'F3003'].map((id) => `CloudFormation-Validate::${id}`);

/** What a variant acknowledges, and what the packs find in it when nothing counts as acknowledged. */
function audit(overrides: Readonly<Record<string, unknown>>) {
  const acknowledged: { path: string; id: string; reason: string }[] = [];
  const spy = vi.spyOn(Validations.prototype, 'acknowledge').mockImplementation(function (
    this: Validations,
    ...rules: Acknowledgment[]
  ) {
    const scope: IConstruct = Reflect.get(this, 'scope');
    for (const { id, reason } of rules.filter((rule) => !OF_THE_LIBRARY.includes(rule.id))) {
      acknowledged.push({ path: scope.node.path, id, reason });
    }
  });
  const { app } = construct(overrides);
  spy.mockRestore();
  app.synth();
  const found = [new AwsSolutionsChecks(app), new ServerlessChecks(app)]
    .flatMap((pack) => pack.validateScope(app).violations)
    .flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath = '' }) => ({ path: constructPath, id: ruleName })),
    );
  return { acknowledged, found };
}

/** Settings that add resources with findings of their own. */
const shared = {
  alarmEmail: 'ops@example.com',
  'trustedAccounts.enqueue': '111122223333,444455556666',
  'trustedAccounts.operate': '777788889999',
};

describe.each(Object.entries({ ...variants, shared }))('the stack (%s)', (_, settings) => {
  it('passes the rules of CloudFormation and both packs', () => {
    expect(() => Template.fromStack(construct(settings, { rules: true }).stack)).not.toThrow();
  });

  it('acknowledges nothing that is not found where it says so, and that in a whole sentence', () => {
    const { acknowledged, found } = audit(settings);
    expect(found.length).toBeGreaterThan(0);
    const unused = acknowledged.filter(
      ({ path, id }) => !found.some((finding) => finding.id === id && `${finding.path}/`.startsWith(`${path}/`)),
    );
    expect(unused).toEqual([]);
    for (const { reason } of acknowledged) expect(reason).toMatch(/^[A-Z].{40,}\.$/);
  });
});

it('does not pass with a finding that nobody acknowledges', () => {
  const { stack } = construct(variants.standard, { rules: true });
  new Topic(stack, 'Open');
  expect(() => Template.fromStack(stack)).toThrow('AwsSolutions-SNS3');
});

it('does not pass with a template that breaks a rule of CloudFormation', () => {
  const { stack } = construct(variants.standard, { rules: true });
  new CfnResource(stack, 'Kept', { type: 'AWS::Logs::LogGroup', properties: { RetentionInDays: 2 } });
  expect(() => Template.fromStack(stack)).toThrow('RetentionInDays');
});
