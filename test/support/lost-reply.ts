import type { RedisConnection } from '../../functions/lib/queue/script.ts';

/** The same connection, but the replies to the next `count` scripts are lost: Redis has run them, the caller sees an error. */
export function losingReplies(redis: RedisConnection, count: number): RedisConnection {
  let left = count;
  const callBuffer = async (command: string, ...args: (string | number | Buffer)[]) => {
    const reply = await redis.callBuffer(command, ...args);
    if (left-- > 0) throw new Error('Connection is closed.');
    return reply;
  };
  return new Proxy(redis, {
    get: (target, name) => (name === 'callBuffer' ? callBuffer : Reflect.get(target, name)),
  });
}
