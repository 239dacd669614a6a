import * as z from 'zod/mini';
import { eventHandler } from '../lib/lambda/event.ts';
import { createInvoker } from '../lib/lambda/invoker.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { dispatcherOf } from '../lib/queue/dispatcher.ts';
import { Launcher, INVOKES_MAX } from './launcher.ts';
import { dispatchLoop } from './loop.ts';
import { createMarkOfLife } from './mark-of-life.ts';

/** A little longer than the minute of the schedule, so that one dispatcher always sees the next. */
const LOOP_MS = 65_000;
/** For the last block, and the invokes that are then under way. */
const MARGIN_MS = 15_000;
const INVOKE_TIMEOUT_MS = 5_000;

const { settings, log, openQueue } = coldStart('dispatch', dispatcherOf, 'processFunction');
const invokeProcess = createInvoker({ timeoutMs: INVOKE_TIMEOUT_MS, connections: INVOKES_MAX });

export const handler = eventHandler({ log, schema: z.looseObject({}) }, async (_event, context) => {
  const startedMs = performance.now();
  const queue = await openQueue();
  const launcher = new Launcher({
    queue,
    log,
    invoke: ({ leaseId, token }) => invokeProcess(settings.processFunction, { queue: settings.queue, leaseId, token }),
  });
  const untilMs = startedMs + Math.min(LOOP_MS, context.getRemainingTimeInMillis() - MARGIN_MS);
  await dispatchLoop({ queue, launcher, mark: createMarkOfLife(queue, log), log, untilMs });
  log.info('dispatched', { ...launcher.counts, ms: Math.round(performance.now() - startedMs) });
});
