import { randomBytes } from 'node:crypto';
import type { QueueConfig } from '../config/queue-config.ts';
import { QueueUnavailable, QueueUnconfigured } from './errors.ts';
import { type QueueKeys, queueKeys } from './keys.ts';
import { type RedisConnection, runScript, type Script, type ScriptArgument } from './script.ts';
import { configure } from './scripts/configure.ts';

export interface QueueOptions {
  readonly redis: RedisConnection;
  /** Makes the second connection, which `waitForWake` blocks on; only a dispatcher needs it. */
  readonly connectBlocking?: () => RedisConnection;
  readonly queue: string;
  readonly shard: number;
}

type Run = <Field extends string, Outcome>(
  script: Script<Field, Outcome>,
  args: Readonly<Record<Field, ScriptArgument>>,
  rest?: readonly ScriptArgument[],
) => Promise<Outcome>;

/** A queue's Redis and how scripts are run on it: what every face of the queue stands on. */
export interface QueueCore extends Pick<QueueOptions, 'redis' | 'connectBlocking' | 'shard'> {
  readonly keys: QueueKeys;
  /** Runs a script; an emptied Redis is configured again first. */
  readonly run: Run;
  /** Once more after a lost reply, for scripts that answer a repetition like the first time. */
  readonly runTwice: Run;
  /** Writes the configuration unless a newer one is there; `kept` says that it was. */
  configure(config: QueueConfig): Promise<'configured' | 'kept'>;
  /** Has something ended together with the connection. */
  readonly atClose: (end: () => void) => void;
  close(): Promise<void>;
}

/** Opens the queue over one Redis. */
export function openCore({ redis, connectBlocking, queue, shard }: QueueOptions): QueueCore {
  const keys = queueKeys(queue, shard);
  const ends: (() => void)[] = [];
  let config: QueueConfig | undefined;

  const writeConfig = (value: QueueConfig) =>
    runScript(redis, keys.prefix, configure, { version: value.version, settings: JSON.stringify(value) });

  const run: Run = async (script, args, rest = []) => {
    try {
      return await runScript(redis, keys.prefix, script, args, rest);
    } catch (error) {
      if (!(error instanceof QueueUnconfigured) || config === undefined) throw error;
      await writeConfig(config);
      return runScript(redis, keys.prefix, script, args, rest);
    }
  };

  return {
    redis,
    ...(connectBlocking && { connectBlocking }),
    shard,
    keys,
    run,
    runTwice: (script, args, rest) =>
      run(script, args, rest).catch((error: unknown) => {
        if (!(error instanceof QueueUnavailable)) throw error;
        return run(script, args, rest);
      }),
    async configure(value) {
      config = value;
      return writeConfig(value);
    },
    atClose: (end) => {
      ends.push(end);
    },
    async close() {
      for (const end of ends) end();
      redis.disconnect();
    },
  };
}

/** Random, for what a script makes names from. */
export function newSeed(): string {
  return randomBytes(16).toString('hex');
}
