import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';

export interface CfnTemplate {
  Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
}

/** What must outlive an upgrade, and what goes with it. */
const KEPT: Readonly<Record<string, string>> = {
  'AWS::ElastiCache::ReplicationGroup': 'the jobs',
  'AWS::ElastiCache::SubnetGroup': 'the cache, which stands in it',
  'AWS::ElastiCache::User': 'the connections of the functions of the last release',
  'AWS::ElastiCache::UserGroup': 'the connections of the functions of the last release',
  'AWS::EC2::VPC': 'the cache, which stands in it',
  'AWS::EC2::Subnet': 'the cache, which stands in it',
  'AWS::SecretsManager::Secret': 'the password of the cache',
  'AWS::Logs::LogGroup': 'the log',
  'AWS::ApiGatewayV2::Api': 'the URL that producers call',
  'AWS::SNS::Topic': 'the subscriptions of those on call',
};

const LOST = [
  ResourceImpact.WILL_REPLACE,
  ResourceImpact.MAY_REPLACE,
  ResourceImpact.WILL_DESTROY,
  ResourceImpact.WILL_ORPHAN,
];

/** The resources of a template that must outlive an upgrade, and those that their replacement can come from. */
export const keptPart = ({ Resources }: CfnTemplate): CfnTemplate => ({
  Resources: Object.fromEntries(
    Object.entries(Resources).filter(([, { Type }]) => Type in KEPT || /^AWS::(EC2|ElastiCache)::/.test(Type)),
  ),
});

/** What an upgrade from one template to another loses, one sentence each. */
export function losses(before: CfnTemplate, after: CfnTemplate): string[] {
  const found: string[] = [];
  fullDiff(keptPart(before), keptPart(after)).resources.forEachDifference((id, { changeImpact, resourceType }) => {
    const lost = KEPT[resourceType ?? ''];
    if (lost !== undefined && LOST.includes(changeImpact)) found.push(`${id} ${changeImpact}: ${lost} would be lost`);
  });
  return found;
}
