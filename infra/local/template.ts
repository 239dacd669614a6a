/** Anything that JSON can hold as an object. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A template value as text: what CloudFormation makes of a string, number or boolean; nothing becomes ''. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** What stands for the account that a template is deployed to. */
export interface Deployment {
  region: string;
  accountId: string;
  stackName: string;
  /** Where the template's cache is to be found. */
  redis: { host: string; port: number };
}

export interface Resource {
  /** Logical id. */
  id: string;
  type: string;
  /** The name it was given, else one that stands for the name that CloudFormation would make up. */
  name: string;
  /** With every intrinsic function resolved. */
  properties: JsonObject;
}

/** The property that gives a resource its name, where its type has one; without it the logical id is the name. */
const NAME_PROPERTY: Record<string, string> = {
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::CompositeAlarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::CloudWatch::InsightRule': 'RuleName',
  'AWS::ElastiCache::ReplicationGroup': 'ReplicationGroupId',
  'AWS::ElastiCache::User': 'UserId',
  'AWS::ElastiCache::UserGroup': 'UserGroupId',
  'AWS::Events::Rule': 'Name',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::Scheduler::Schedule': 'Name',
  'AWS::SecretsManager::Secret': 'Name',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::SNS::Topic': 'TopicName',
};

/**
 * A synthesized CloudFormation template whose references are resolved as a deployment would. A reference to something
 * that the template does not have, or that the local runner knows no value for, is an error that names both ends.
 */
export class Template {
  readonly #resources: JsonObject;
  readonly #parameters: JsonObject;
  readonly #conditions: JsonObject;
  readonly #deployment: Deployment;

  constructor(json: JsonObject, deployment: Deployment) {
    this.#resources = isObject(json.Resources) ? json.Resources : {};
    this.#parameters = isObject(json.Parameters) ? json.Parameters : {};
    this.#conditions = isObject(json.Conditions) ? json.Conditions : {};
    this.#deployment = deployment;
  }

  get deployment(): Deployment {
    return this.#deployment;
  }

  /** All resources of a type whose condition holds, resolved. */
  resources(type: string): Resource[] {
    return Object.keys(this.#resources)
      .filter((id) => this.#raw(id, id).Type === type && this.#exists(id))
      .map((id) => this.resource(id));
  }

  /** One resource, resolved. */
  resource(id: string): Resource {
    const raw = this.#raw(id, id);
    const properties = this.#resolve(raw.Properties ?? {}, id);
    return {
      id,
      type: String(raw.Type),
      name: this.#nameOf(id, id),
      properties: isObject(properties) ? properties : {},
    };
  }

  /** What stands for a secret where another resource refers to it. */
  secretArn(id: string): string {
    return this.#attribute(id, 'Id', id);
  }

  #raw(id: string, user: string): JsonObject {
    const raw = this.#resources[id];
    if (!isObject(raw)) throw new Error(`Resource ${user} refers to ${id}, which the template does not have`);
    return raw;
  }

  #exists(id: string): boolean {
    const { Condition: condition } = this.#raw(id, id);
    return condition === undefined || this.#condition(textOf(condition), id);
  }

  #resolve(value: unknown, user: string): unknown {
    if (Array.isArray(value))
      return value.map((item) => this.#resolve(item, user)).filter((item) => item !== undefined);
    if (!isObject(value)) return value;
    const [key, ...others] = Object.keys(value);
    if (key !== undefined && others.length === 0 && (key === 'Ref' || key.startsWith('Fn::'))) {
      return this.#intrinsic(key, value[key], user);
    }
    const entries = Object.entries(value).map(([name, item]) => [name, this.#resolve(item, user)] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  }

  #intrinsic(name: string, argument: unknown, user: string): unknown {
    const list = () => (Array.isArray(argument) ? argument : [argument]).map((item) => this.#resolve(item, user));
    switch (name) {
      case 'Ref':
        return this.#ref(String(argument), user);
      case 'Fn::GetAtt': {
        const [id = '', ...path] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
        return this.#attribute(id, path.join('.'), user);
      }
      case 'Fn::Join': {
        const [separator, parts] = list();
        return (Array.isArray(parts) ? parts : []).map(String).join(String(separator));
      }
      case 'Fn::Split': {
        const [separator, text] = list();
        return String(text).split(String(separator));
      }
      case 'Fn::Select': {
        const [index, items] = list();
        const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
        if (item === undefined) throw new Error(`Resource ${user}: Fn::Select has no item ${String(index)}`);
        return item;
      }
      case 'Fn::Sub':
        return this.#substitute(argument, user);
      case 'Fn::If': {
        const [condition, yes, no] = Array.isArray(argument) ? argument : [];
        return this.#resolve(this.#condition(String(condition), user) ? yes : no, user);
      }
      default:
        throw new Error(`Resource ${user} uses ${name}, which the local runner does not know`);
    }
  }

  #substitute(argument: unknown, user: string): string {
    const [text, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(text).replaceAll(/\$\{(!?)([^}]+)\}/g, (whole: string, literal: string, name: string) => {
      if (literal) return whole.replace('!', '');
      if (isObject(variables) && name in variables) return String(this.#resolve(variables[name], user));
      const [id = '', ...path] = name.split('.');
      return String(path.length > 0 ? this.#attribute(id, path.join('.'), user) : this.#ref(name, user));
    });
  }

  #condition(name: string, user: string): boolean {
    if (!(name in this.#conditions))
      throw new Error(`Resource ${user} refers to condition ${name}, which does not exist`);
    return this.#test(this.#conditions[name], user);
  }

  #test(expression: unknown, user: string): boolean {
    const [name = '', argument] = isObject(expression) ? (Object.entries(expression)[0] ?? []) : [];
    const list: unknown[] = Array.isArray(argument) ? argument : [];
    switch (name) {
      case 'Condition':
        return this.#condition(String(argument), user);
      case 'Fn::Equals':
        return JSON.stringify(this.#resolve(list[0], user)) === JSON.stringify(this.#resolve(list[1], user));
      case 'Fn::And':
        return list.every((item) => this.#test(item, user));
      case 'Fn::Or':
        return list.some((item) => this.#test(item, user));
      case 'Fn::Not':
        return !this.#test(list[0], user);
      default:
        throw new Error(
          `Resource ${user}: a condition uses ${name || 'no function'}, which the local runner does not know`,
        );
    }
  }

  #ref(id: string, user: string): unknown {
    const { region, accountId, stackName } = this.#deployment;
    switch (id) {
      case 'AWS::Region':
        return region;
      case 'AWS::AccountId':
        return accountId;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return stackName;
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`;
      case 'AWS::NoValue':
        return undefined;
      default:
    }
    const parameter = this.#parameters[id];
    if (!isObject(parameter)) return this.#reference(id, user);
    if (parameter.Default === undefined)
      throw new Error(`Resource ${user} needs parameter ${id}, which has no default`);
    return parameter.Default;
  }

  #reference(id: string, user: string): string {
    const type = String(this.#raw(id, user).Type);
    if (type === 'AWS::SQS::Queue') return this.#attribute(id, 'QueueUrl', user);
    if (type === 'AWS::SNS::Topic') return this.#attribute(id, 'TopicArn', user);
    if (type === 'AWS::SecretsManager::Secret') return this.#attribute(id, 'Id', user);
    return this.#nameOf(id, user);
  }

  #nameOf(id: string, user: string): string {
    const raw = this.#raw(id, user);
    const property = NAME_PROPERTY[String(raw.Type)];
    const properties = isObject(raw.Properties) ? raw.Properties : {};
    const name = textOf(this.#resolve(property && properties[property], id));
    if (name || raw.Type !== 'AWS::Lambda::Function') return name || id;
    // A logical id is long and ends in a hash; the log group says the same in words.
    const logging = this.#resolve(properties.LoggingConfig, id);
    const words = isObject(logging) ? textOf(logging.LogGroup).split('/').filter(Boolean).join('-') : '';
    return words || id;
  }

  #attribute(id: string, attribute: string, user: string): string {
    const type = String(this.#raw(id, user).Type);
    const name = this.#nameOf(id, user);
    const { region, accountId, redis } = this.#deployment;
    const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${accountId}:${resource}`;
    const known: Record<string, string> = {
      'AWS::ApiGatewayV2::Api.ApiId': id,
      'AWS::ApiGatewayV2::Api.ApiEndpoint': `https://${id}.execute-api.${region}.amazonaws.com`,
      'AWS::CloudWatch::Alarm.Arn': arn('cloudwatch', `alarm:${name}`),
      'AWS::CloudWatch::CompositeAlarm.Arn': arn('cloudwatch', `alarm:${name}`),
      'AWS::CloudWatch::InsightRule.Arn': arn('cloudwatch', `insight-rule/${name}`),
      'AWS::CloudWatch::InsightRule.RuleName': name,
      'AWS::ElastiCache::ReplicationGroup.ConfigurationEndPoint.Address': redis.host,
      'AWS::ElastiCache::ReplicationGroup.ConfigurationEndPoint.Port': String(redis.port),
      'AWS::ElastiCache::ReplicationGroup.PrimaryEndPoint.Address': redis.host,
      'AWS::ElastiCache::ReplicationGroup.PrimaryEndPoint.Port': String(redis.port),
      'AWS::ElastiCache::User.Arn': arn('elasticache', `user:${name}`),
      'AWS::Events::Rule.Arn': arn('events', `rule/${name}`),
      'AWS::IAM::Role.Arn': `arn:aws:iam::${accountId}:role/${name}`,
      'AWS::Lambda::Function.Arn': arn('lambda', `function:${name}`),
      'AWS::Logs::LogGroup.Arn': arn('logs', `log-group:${name}:*`),
      'AWS::S3::Bucket.Arn': `arn:aws:s3:::${name}`,
      'AWS::SecretsManager::Secret.Id': arn('secretsmanager', `secret:${name}-local0`),
      'AWS::SNS::Topic.TopicArn': arn('sns', name),
      'AWS::SNS::Topic.TopicName': name,
      'AWS::SQS::Queue.Arn': arn('sqs', name),
      'AWS::SQS::Queue.QueueUrl': `https://sqs.${region}.amazonaws.com/${accountId}/${name}`,
    };
    const value = known[`${type}.${attribute}`];
    // Network and key resources do not exist here; what refers to them only passes the reference on.
    if (value === undefined && /^AWS::(EC2|KMS|ElastiCache|SecretsManager|CloudWatch)::/.test(type))
      return `${id}.${attribute}`;
    if (value === undefined) {
      throw new Error(
        `Resource ${user} refers to ${id}.${attribute}: the local runner knows no ${attribute} of ${type}`,
      );
    }
    return value;
  }
}
