import { fromEnv } from '../config/env.ts';
import { queueConfig } from '../config/queue-config.ts';
import { connectRedis } from '../queue/connect.ts';
import { openCore, type QueueCore } from '../queue/core.ts';
import { createLogger } from '../telemetry/logger.ts';

type Link = Parameters<typeof fromEnv>[1];

/**
 * What a function that works on the queue has from its cold start on: settings, logger, and the queue.
 *
 * @param faceOf what the function needs of the queue, so that it carries no other scripts
 * @param links further settings that only some functions have
 * @throws SettingsError naming every variable that is missing or malformed
 */
export function coldStart<Queue, L extends NonNullable<Link> = never>(
  functionName: string,
  faceOf: (core: QueueCore) => Queue,
  ...links: L[]
) {
  const settings = fromEnv(process.env, ...links);
  const log = createLogger(functionName);
  const connect = () => connectRedis(settings.redis);
  const core = openCore({
    redis: connect(),
    connectBlocking: connect,
    queue: settings.queue,
    shard: settings.shard,
  });
  const queue = faceOf(core);
  let configured: Promise<unknown> | undefined;

  /** The queue, once Redis has the configuration of this deploy. @throws QueueUnavailable, and tries again at the next call. */
  async function openQueue(): Promise<Queue> {
    configured ??= core.configure(queueConfig(settings)).catch((error: unknown) => {
      configured = undefined;
      throw error;
    });
    await configured;
    return queue;
  }

  return { settings, log, openQueue };
}
