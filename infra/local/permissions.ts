import { isObject, type JsonObject, type Template } from './template.ts';

/** Who may invoke what, by the template's roles (identity side) and Lambda permissions (resource side). */
export interface Permissions {
  /** Whether the policies of a role allow an action on a resource. */
  allows(role: string, action: string, resource: string): boolean;
  /** Whether a function lets a service (such as `apigateway.amazonaws.com`) invoke it. */
  admits(service: string, functionNameOrArn: string): boolean;
}

export function readPermissions(template: Template): Permissions {
  const statements = new Map<string, JsonObject[]>();
  const add = (role: string, policy: unknown) => {
    const list: unknown = isObject(policy) ? policy.Statement : [];
    statements.set(role, [...(statements.get(role) ?? []), ...(Array.isArray(list) ? list : [list]).filter(isObject)]);
  };
  for (const { name, properties } of template.resources('AWS::IAM::Role')) {
    const policies: unknown[] = Array.isArray(properties.Policies) ? properties.Policies : [];
    for (const policy of policies) add(name, isObject(policy) ? policy.PolicyDocument : {});
  }
  for (const type of ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']) {
    for (const { properties } of template.resources(type)) {
      const roles: unknown[] = Array.isArray(properties.Roles) ? properties.Roles : [];
      for (const role of roles) add(String(role), properties.PolicyDocument);
    }
  }
  const grants = template.resources('AWS::Lambda::Permission').map(({ properties }) => properties);
  return {
    allows(role, action, resource) {
      const matching = (statements.get(role) ?? []).filter(
        (statement) => matches(statement.Action, action) && matches(statement.Resource, resource),
      );
      const effects = matching.map(({ Effect }) => Effect);
      return effects.includes('Allow') && !effects.includes('Deny');
    },
    admits(service, functionNameOrArn) {
      const name = functionNameOrArn.split(':').at(-1);
      return grants.some(
        (grant) => grant.Principal === service && String(grant.FunctionName).split(':').at(-1) === name,
      );
    },
  };
}

function matches(patterns: unknown, text: string): boolean {
  return (Array.isArray(patterns) ? patterns : [patterns]).some((pattern) => {
    const source = String(pattern)
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return new RegExp(`^${source}$`, 'i').test(text);
  });
}
