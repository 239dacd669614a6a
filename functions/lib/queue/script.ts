import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { QueueUnavailable, QueueUnconfigured, ScriptFailed } from './errors.ts';

export type RedisConnection = Redis | Cluster;
export type ScriptArgument = string | number | Buffer;

/** A script's reply as Redis sends it: bulk strings as bytes, since job records are not text. */
export type Reply = readonly (Buffer | number | Reply)[];

interface ScriptDefinition<Field extends string, Outcome> {
  /** The verb: its file in `lua/`, its header, its test. */
  readonly name: string;
  /** Shared parts, in order, then the verb. */
  readonly parts: readonly string[];
  /** Runs on a full Redis too; only for scripts that a full queue needs in order to drain. */
  readonly allowOom: boolean;
  /** The arguments in ARGV order. */
  readonly fields: readonly Field[];
  readonly decode: (reply: Reply) => Outcome;
}

export interface Script<Field extends string, Outcome> extends ScriptDefinition<Field, Outcome> {
  readonly source: string;
  readonly sha: string;
}

/** A script's typed face: named arguments go in, an outcome comes out, and the order is written once. */
export function defineScript<const Field extends string, Outcome>(
  definition: ScriptDefinition<Field, Outcome>,
): Script<Field, Outcome> {
  const source = [definition.allowOom ? '#!lua flags=allow-oom' : '#!lua', ...definition.parts].join('\n');
  return { ...definition, source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * Runs a script by its SHA, and by its source once when this Redis has never seen it (a new node, a flush, a failover).
 * `rest` follows the named arguments. Throws QueueUnavailable, QueueUnconfigured or ScriptFailed.
 */
export async function runScript<Field extends string, Outcome>(
  redis: RedisConnection,
  prefix: string,
  script: Script<Field, Outcome>,
  args: Readonly<Record<Field, ScriptArgument>>,
  rest: readonly ScriptArgument[] = [],
): Promise<Outcome> {
  const argv = [...script.fields.map((field) => args[field]), ...rest];
  try {
    const reply = await redis.callBuffer('evalsha', script.sha, 1, prefix, ...argv).catch((error: unknown) => {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
      return redis.callBuffer('eval', script.source, 1, prefix, ...argv);
    });
    if (!isReply(reply)) throw new TypeError('expected a list in reply');
    return script.decode(reply);
  } catch (error) {
    throw classify(script.name, error);
  }
}

/** Every script answers a list; what is in it, its face reads value by value. */
function isReply(reply: unknown): reply is Reply {
  return Array.isArray(reply);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function classify(name: string, error: unknown): Error {
  const message = messageOf(error);
  if (message.startsWith('UNCONFIGURED')) return new QueueUnconfigured(message, { cause: error });
  const refusedByScript =
    /^(ERR|WRONGTYPE|NOPERM)|^user_script/.test(message) || error instanceof TypeError || error instanceof RangeError;
  return refusedByScript
    ? new ScriptFailed(`${name}: ${message}`, { cause: error })
    : new QueueUnavailable(`${name}: ${message}`, { cause: error });
}

/** A bulk string of the reply as text. */
export function text(value: Reply[number] | undefined): string {
  if (!Buffer.isBuffer(value)) throw new TypeError(`expected a string in the reply, got ${JSON.stringify(value)}`);
  return value.toString('utf8');
}

/** An integer or a number sent as text; `''` and absent are refused. */
export function number(value: Reply[number] | undefined): number {
  const parsed = typeof value === 'number' ? value : Number(text(value) || Number.NaN);
  if (Number.isNaN(parsed)) throw new TypeError(`expected a number in the reply, got ${JSON.stringify(value)}`);
  return parsed;
}

/** A bulk string of the reply as bytes. */
export function bytes(value: Reply[number] | undefined): Buffer {
  if (!Buffer.isBuffer(value)) throw new TypeError(`expected bytes in the reply, got ${JSON.stringify(value)}`);
  return value;
}

/** A number, or null where the script sent `''`. */
export function optional(value: Reply[number] | undefined): number | null {
  return Buffer.isBuffer(value) && value.length === 0 ? null : number(value);
}

/** The fields after the outcome word, for a script that has only one; another word is refused. */
export function afterOutcome(script: string, word: string, reply: Reply): Reply {
  return text(reply[0]) === word ? reply.slice(1) : unknownOutcome(script, reply);
}

/** What the face's `decode` throws for an outcome word that its script does not have. */
export function unknownOutcome(script: string, reply: Reply): never {
  throw new TypeError(`${script} answered ${JSON.stringify(Buffer.isBuffer(reply[0]) ? text(reply[0]) : reply[0])}`);
}
