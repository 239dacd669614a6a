import * as z from 'zod/mini';
import { eventHandler } from '../lib/lambda/event.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { watcherOf } from '../lib/queue/watcher.ts';
import { emitReading } from './emit.ts';
import { watch } from './watch.ts';

const { settings, log, openQueue } = coldStart('monitor', watcherOf);

export const handler = eventHandler({ log, schema: z.looseObject({}) }, async () => {
  const reading = await watch(await openQueue(), log);
  if (reading !== undefined) emitReading(log, settings.metricsName, reading);
});
