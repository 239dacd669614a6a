import { setTimeout } from 'node:timers/promises';
import type { Runtime } from '../config/env.ts';
import { iamToken } from './iam-token.ts';
import { secretsEndpoint, secretValue } from './secret-value.ts';

/** As `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a connection is made with. */
export interface Password {
  /** To connect with now. */
  current(): string;
  /**
   * Resolves once there is one; left out where there always is.
   *
   * @param failed told why there is none, each time that it is asked for in vain; ends that by a throw
   */
  known?(failed: (error: Error) => void): Promise<void>;
  /** Redis has refused it: another one may be in force by now. */
  refused(): void;
}

/** Between two requests for the secret; a thousand environments may find at once that it has changed. */
const ASK_AGAIN_MS = 5_000;
/** After a request in vain, while there is nothing to connect with. */
const RETRY_MS = 200;

const required = (env: Environment, name: string): string => {
  const value = env[name];
  if (value === undefined || value === '')
    throw new Error(`${name}: missing, expected what Lambda sets for a function`);
  return value;
};

/**
 * The password by the kind of authentication; undefined where there is none. Lambda's credentials outlive the environment
 * that they are set in.
 *
 * @throws Error when the environment lacks what requests are signed with.
 */
export function passwordOf(redis: Runtime['redis'], user: string, env: Environment): Password | undefined {
  if (redis.auth === 'none') return undefined;
  const region = required(env, 'AWS_REGION');
  const credentials = {
    accessKeyId: required(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(env, 'AWS_SECRET_ACCESS_KEY'),
    sessionToken: env.AWS_SESSION_TOKEN,
  };
  if (redis.auth === 'iam') {
    return {
      current: () => iamToken({ user, name: redis.name, region, credentials, at: new Date() }),
      refused: () => undefined,
    };
  }
  const request = { secretId: redis.secret, region, credentials, endpoint: secretsEndpoint(region, env) };
  return keptPassword(async () => passwordIn(await secretValue(request)));
}

/** The secret is JSON, as the rotation functions of AWS for users of ElastiCache keep it too. */
function passwordIn(secret: string): string {
  const fault = 'The secret with the password of Redis is not what it was made as, {"username", "password"}';
  let parsed: unknown;
  try {
    parsed = JSON.parse(secret);
  } catch {
    // Not the parser's own error, which quotes what it was given.
    throw new Error(fault);
  }
  const password: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'password') : undefined;
  if (typeof password === 'string' && password !== '') return password;
  throw new Error(fault);
}

/** Asked for at once and kept until Redis refuses it, since a request for it takes longer than a command. */
function keptPassword(ask: () => Promise<string>): Password {
  let value: string | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const askAgain = async () => {
    askedAtMs = Date.now();
    value = await ask();
  };
  return {
    current: () => value ?? '',
    async known(failed) {
      for (;;) {
        try {
          return await askAgain();
        } catch (error) {
          failed(error instanceof Error ? error : new Error(String(error)));
          await setTimeout(RETRY_MS);
        }
      }
    },
    refused() {
      if (Date.now() - askedAtMs < ASK_AGAIN_MS) return;
      // The old one goes on to be tried, and its refusal to be told, until there is another.
      askAgain().catch(() => undefined);
    },
  };
}
