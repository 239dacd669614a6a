import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shardPrefix } from '../../functions/lib/queue/keys.ts';
import type { Assembly } from './assembly.ts';
import type { FunctionSpec } from './environment.ts';
import { isObject, type Resource, type Template, textOf } from './template.ts';

/** A function of the template with what the Lambda service holds about it. */
export interface DeclaredFunction extends FunctionSpec {
  /** The role's name, whose policies decide what the function may call. */
  role: string;
  roleArn: string;
  logGroup: string;
  /** Whether it is attached to a network of the account. */
  inNetwork: boolean;
  /** Most invocations at once, or undefined when the function shares the account's. */
  reservedConcurrency: number | undefined;
  /** How long an Event invocation may wait, and how often a failed one is tried again. */
  events: { maximumAgeMs: number; maximumRetries: number };
}

/** What Lambda does with events of a function that has no EventInvokeConfig. */
const DEFAULT_EVENTS = { maximumAgeMs: 6 * 3_600_000, maximumRetries: 2 };

/**
 * The functions that the template declares.
 *
 * @throws Error naming the function when its bundle or handler file is missing or an environment variable has no value.
 */
export function readFunctions(template: Template, assembly: Assembly): DeclaredFunction[] {
  const eventConfigs = template.resources('AWS::Lambda::EventInvokeConfig');
  return template.resources('AWS::Lambda::Function').map((resource) => {
    const { id, name, properties } = resource;
    const { region, accountId } = template.deployment;
    const config = eventConfigs.find(({ properties: { FunctionName } }) => FunctionName === name)?.properties;
    const taskRoot = bundleOf(resource, assembly);
    const handler = String(properties.Handler);
    requireHandlerFile(id, taskRoot, handler);
    return {
      name,
      arn: `arn:aws:lambda:${region}:${accountId}:function:${name}`,
      handler,
      taskRoot,
      runtime: String(properties.Runtime),
      memoryMb: Number(properties.MemorySize ?? 128),
      timeoutMs: Number(properties.Timeout ?? 3) * 1_000,
      env: environmentOf(resource),
      role: textOf(properties.Role).split('/').at(-1) ?? '',
      roleArn: textOf(properties.Role),
      logGroup: logGroupOf(resource),
      inNetwork: isObject(properties.VpcConfig),
      reservedConcurrency:
        properties.ReservedConcurrentExecutions === undefined
          ? undefined
          : Number(properties.ReservedConcurrentExecutions),
      events: {
        maximumAgeMs: Number(config?.MaximumEventAgeInSeconds ?? DEFAULT_EVENTS.maximumAgeMs / 1_000) * 1_000,
        maximumRetries: Number(config?.MaximumRetryAttempts ?? DEFAULT_EVENTS.maximumRetries),
      },
    };
  });
}

function logGroupOf({ name, properties }: Resource): string {
  const named = isObject(properties.LoggingConfig) ? textOf(properties.LoggingConfig.LogGroup) : '';
  return named || `/aws/lambda/${name}`;
}

function bundleOf({ id, properties }: Resource, assembly: Assembly): string {
  const key = isObject(properties.Code) ? String(properties.Code.S3Key) : '';
  const folder = assembly.assets.get(key);
  if (!folder)
    throw new Error(`Function ${id}: its code (${key || 'none'}) is not among the bundles that were synthesized`);
  return folder;
}

function requireHandlerFile(id: string, taskRoot: string, handler: string): void {
  const file = join(taskRoot, handler.slice(0, handler.lastIndexOf('.')));
  if (['.js', '.mjs', '.cjs'].some((extension) => existsSync(file + extension))) return;
  throw new Error(
    `Function ${id}: handler ${handler} needs a file ${file}.mjs, .js or .cjs; ${dirname(file)} has none`,
  );
}

function environmentOf({ id, properties }: Resource): Record<string, string> {
  const variables = isObject(properties.Environment) ? properties.Environment.Variables : {};
  return Object.fromEntries(
    Object.entries(isObject(variables) ? variables : {}).map(([name, value]) => {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw new Error(
          `Function ${id}: environment variable ${name} is ${JSON.stringify(value)}; it must be a string`,
        );
      }
      return [name, secretOf(id, name, String(value))];
    }),
  );
}

/** What CloudFormation would fetch from Secrets Manager, which is not here: the variable of the same name has it. */
function secretOf(id: string, name: string, value: string): string {
  const [, secret] = /^\{\{resolve:secretsmanager:(.+?):SecretString/.exec(value) ?? [];
  if (secret === undefined) return value;
  const held = process.env[name];
  if (held !== undefined) return held;
  throw new Error(`Function ${id}: ${name} comes from the secret ${secret}; set ${name} here to what the secret holds`);
}

/**
 * The functions of one queue, with those that belong to none: the local runner has one Redis, one API and one page.
 *
 * @param queue needed where there are several.
 * @throws Error naming the queues there are, when it is not clear which one is meant.
 */
export function functionsOfQueue(functions: DeclaredFunction[], queue?: string): DeclaredFunction[] {
  const nameIn = ({ env: { ROTA_QUEUE } }: DeclaredFunction) => ROTA_QUEUE;
  const names = functions.filter(({ name }) => name.endsWith('-process')).flatMap((declared) => nameIn(declared) ?? []);
  const wanted = queue ?? (names.length === 1 ? names[0] : undefined);
  if (names.length > 1 && names.filter((name) => name === wanted).length !== 1) {
    throw new Error(
      `The stack has the queues ${names.join(', ')}; the local runner runs one, of a name that no other has: say which as queue`,
    );
  }
  return functions.filter((declared) => [undefined, wanted].includes(nameIn(declared)));
}

/** The queue of this stack, by the environment of its functions; undefined when the stack has none. */
export function queueOf(functions: DeclaredFunction[]): { name: string; keyPrefix: string } | undefined {
  const env = functions.find(({ env: { ROTA_QUEUE } }) => ROTA_QUEUE !== undefined)?.env;
  if (env?.ROTA_QUEUE === undefined) return undefined;
  return { name: env.ROTA_QUEUE, keyPrefix: shardPrefix(env.ROTA_QUEUE, Number(env.ROTA_SHARD)) };
}

/** @throws Error naming the functions there are, when the last word or whole name is not that of exactly one. */
export function nameOf(functions: DeclaredFunction[], name: string): string {
  const matching = functions.filter((declared) => declared.name === name || declared.name.endsWith(`-${name}`));
  const [only] = matching;
  if (!only || matching.length > 1) {
    throw new Error(`${name} names ${matching.length} functions; there are ${functions.map((f) => f.name).join(', ')}`);
  }
  return only.name;
}
