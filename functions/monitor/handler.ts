import * as z from 'zod/mini';
import { eventHandler } from '../lib/lambda/event.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createEmitter, emitReading } from './emit.ts';
import { watch } from './watch.ts';

const { settings, log, openQueue } = coldStart('monitor');
const emitter = createEmitter(settings.metricsName);

export const handler = eventHandler({ log, schema: z.looseObject({}) }, async () => {
  const reading = await watch(await openQueue(), log);
  if (reading !== undefined) emitReading(emitter, reading);
});
