import type { TestProject } from 'vitest/node';
import { startRedis } from '../../infra/local/redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A cluster of one node, by TLS and with its admin, shared by the test files of a project: use a queue name of your own and flush nothing. */
    redisUrl: string;
    /** File of the certificate that it shows. */
    redisCaFile: string;
  }
}

/** Starts one Redis for a run of the tests. Without a Redis to be had the run fails, it does not skip. */
export default async function sharedRedis(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startRedis({ cluster: true, secure: true, onProgress: (line) => console.error(line) });
  project.provide('redisUrl', redis.url);
  project.provide('redisCaFile', redis.caFile ?? '');
  return () => redis.stop();
}
