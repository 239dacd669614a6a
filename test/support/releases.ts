import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings } from '../../functions/lib/config/parse.ts';
import { type QueueConfig, queueConfig } from '../../functions/lib/config/queue-config.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';

/** What two releases that run side by side share of their code: the queue client, and what it configures by default. */
export interface Release {
  readonly createQueueClient: typeof createQueueClient;
  /** By the settings in a context such as `{ 'rota.capacity': 4 }`, synthesized at that time. */
  readonly configFor: (context: Record<string, unknown>, nowSeconds: number) => QueueConfig;
}

export const today: Release = {
  createQueueClient,
  configFor: (context, nowSeconds) => queueConfig(parseSettings(context, { nowSeconds })),
};

const folder = join(import.meta.dirname, '../fixtures/releases');

/** Versions of the releases that are kept, as test/fixtures/README.md says. */
export const releases: readonly string[] = readdirSync(folder);

/** Its client has the methods that it was released with: what came later is missing. */
export async function loadRelease(version: string): Promise<Release> {
  return import(/* @vite-ignore */ join(folder, version, 'queue.mjs'));
}
