import { runSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import { isObject, type JsonObject, type Template, textOf } from './template.ts';

/** One call of an AWS service, as IAM is asked about it. */
export interface Call {
  /** A role's name, or a service such as `apigateway.amazonaws.com`. */
  caller: string;
  /** Such as `lambda:InvokeFunction`. */
  action: string;
  /** ARN of what the call is about, or `*` for an action that knows no resources. */
  resource: string;
  /** Global condition keys and the service's own, such as `aws:SourceArn`. */
  context?: Readonly<Record<string, string>>;
}

export interface DecidedCall extends Call {
  allowed: boolean;
}

/** A call by the code of a function: it knows what it comes from, and takes the template's endpoint of the service. */
export interface FunctionCall extends Call {
  functionArn: string;
}

type Policy = JsonObject & { Statement: JsonObject[] };

/**
 * Who may do what, decided as IAM does from what the template declares: policies of roles, permissions of functions and
 * policies of endpoints, with conditions and denials. An organisation's own limits are not known here.
 */
export class Permissions {
  readonly #accountId: string;
  readonly #ofRoles: ReadonlyMap<string, Policy>;
  /** By ARN: who may invoke a function, and who may act in a role. */
  readonly #ofResources: ReadonlyMap<string, Policy>;
  readonly #ofEndpoints: ReadonlyMap<string, Policy>;
  readonly #decisions = new Map<string, { call: Call; allowed: Promise<boolean> }>();

  constructor(template: Template) {
    this.#accountId = template.deployment.accountId;
    this.#ofRoles = readRoles(template);
    this.#ofResources = new Map([...readTrust(template), ...readFunctionPolicies(template)]);
    this.#ofEndpoints = readEndpoints(template);
  }

  /**
   * Whether the code of a function may do this.
   *
   * @throws Error when a policy that counts here is not one that IAM takes.
   */
  async allowsFunction({ functionArn, ...call }: FunctionCall): Promise<boolean> {
    const context = { 'lambda:SourceFunctionArn': functionArn, ...call.context };
    const endpoint = this.#ofEndpoints.get(call.action.split(':')[0] ?? '');
    return await this.#decide({ ...call, context }, endpoint);
  }

  /**
   * Whether a service may do this, in its own name or with the role that it was given.
   *
   * @throws Error when a policy that counts here is not one that IAM takes.
   */
  async allows(call: Call): Promise<boolean> {
    return await this.#decide(call);
  }

  /** Every call that was asked about, once. */
  async calls(): Promise<DecidedCall[]> {
    return await Promise.all(
      [...this.#decisions.values()].map(async ({ call, allowed }) => ({ ...call, allowed: await allowed })),
    );
  }

  // A decision takes 2 ms, and the same few calls come thousands of times.
  async #decide(call: Call, endpoint?: Policy): Promise<boolean> {
    const key = JSON.stringify([call, endpoint !== undefined]);
    const known = this.#decisions.get(key) ?? { call, allowed: this.#simulate(call, endpoint) };
    this.#decisions.set(key, known);
    return await known.allowed;
  }

  async #simulate({ caller, action, resource, context = {} }: Call, endpoint?: Policy): Promise<boolean> {
    const isService = caller.endsWith('.amazonaws.com');
    const own = this.#ofRoles.get(caller);
    const resourcePolicy = this.#ofResources.get(resource);
    const simulation: Simulation = {
      request: {
        principal: isService ? caller : `arn:aws:iam::${this.#accountId}:role/${caller}`,
        action,
        resource: { resource, accountId: resource.split(':')[4] || this.#accountId },
        contextVariables: { ...context },
      },
      identityPolicies: own && !isService ? [{ name: caller, policy: own }] : [],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      ...(resourcePolicy && { resourcePolicy }),
      ...(endpoint && { vpcEndpointPolicies: [{ name: 'endpoint', policy: endpoint }] }),
    };
    const outcome = await runSimulation(simulation, {});
    if (outcome.resultType === 'error') {
      throw new Error(
        `IAM would refuse a policy that decides on ${action} by ${caller}: ${JSON.stringify(outcome.errors)}`,
      );
    }
    return outcome.overallResult === 'Allowed';
  }
}

function readRoles(template: Template): Map<string, Policy> {
  const roles = new Map<string, Policy>();
  for (const { name, properties } of template.resources('AWS::IAM::Role')) {
    const policies: unknown[] = Array.isArray(properties.Policies) ? properties.Policies : [];
    for (const policy of policies) add(roles, name, isObject(policy) ? policy.PolicyDocument : {});
  }
  for (const type of ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']) {
    for (const { properties } of template.resources(type)) {
      const names: unknown[] = Array.isArray(properties.Roles) ? properties.Roles : [];
      for (const name of names) add(roles, textOf(name), properties.PolicyDocument);
    }
  }
  return roles;
}

function readTrust(template: Template): Map<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const { name, properties } of template.resources('AWS::IAM::Role')) {
    const arn = `arn:aws:iam::${template.deployment.accountId}:role/${name}`;
    add(policies, arn, properties.AssumeRolePolicyDocument);
  }
  return policies;
}

/** What each function's permissions say, as the one policy that Lambda makes of them. */
function readFunctionPolicies(template: Template): Map<string, Policy> {
  const { region, accountId } = template.deployment;
  const policies = new Map<string, Policy>();
  for (const { properties } of template.resources('AWS::Lambda::Permission')) {
    const { Action, Principal, FunctionName, SourceArn, SourceAccount } = properties;
    const principal = textOf(Principal);
    const arn = `arn:aws:lambda:${region}:${accountId}:function:${textOf(FunctionName).split(':').at(-1)}`;
    const conditions = {
      ...(SourceArn !== undefined && { ArnLike: { 'aws:SourceArn': SourceArn } }),
      ...(SourceAccount !== undefined && { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
    };
    add(policies, arn, {
      Statement: {
        Effect: 'Allow',
        Principal: principal.endsWith('.amazonaws.com') ? { Service: principal } : { AWS: principal },
        Action,
        Resource: arn,
        ...(Object.keys(conditions).length > 0 && { Condition: conditions }),
      },
    });
  }
  return policies;
}

/** Policies of interface endpoints by service, such as `lambda`; an endpoint without one lets everything through. */
function readEndpoints(template: Template): Map<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const { properties } of template.resources('AWS::EC2::VPCEndpoint')) {
    const service = textOf(properties.ServiceName).split('.').at(-1) ?? '';
    if (properties.PolicyDocument !== undefined) add(policies, service, properties.PolicyDocument);
  }
  return policies;
}

function add(policies: Map<string, Policy>, key: string, document: unknown): void {
  const given: unknown = isObject(document) ? document.Statement : [];
  const statements = (Array.isArray(given) ? given : [given]).filter(isObject);
  const before = policies.get(key)?.Statement ?? [];
  policies.set(key, { Version: '2012-10-17', Statement: [...before, ...statements] });
}
