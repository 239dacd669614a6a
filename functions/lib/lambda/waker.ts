import type { Log } from '../telemetry/logger.ts';
import { createInvoker } from './invoker.ts';

/** The producer waits meanwhile. */
const WAKE_TIMEOUT_MS = 2_000;

/**
 * What invokes a dispatcher when the queue found none alive. A refusal is logged and no more: the jobs are in the queue, and
 * the schedule starts a dispatcher within the minute.
 */
export function createWaker(dispatchFunction: string, log: Log): () => Promise<void> {
  const invoke = createInvoker({ timeoutMs: WAKE_TIMEOUT_MS, connections: 1 });
  return async () => {
    const invoked = await invoke(dispatchFunction, {});
    if (invoked.outcome === 'refused')
      log.warn('dispatcher not invoked', { reason: invoked.reason, detail: invoked.detail });
  };
}
