import { setTimeout as delay } from 'node:timers/promises';
import { isRetryable } from '../../lib/domain/thrown.ts';
import { describeThrown, type Log } from '../../lib/telemetry/logger.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;

/** The queue stayed away for as long as an answer could have been of use. */
export class OutOfReach extends Error {
  override readonly name = 'OutOfReach';
  readonly code = 'out_of_reach';
  readonly retryable = false;
}

/**
 * Calls the queue again and again while it is away, until `untilMs` on the clock of `performance.now()`.
 *
 * @throws OutOfReach when that time has come; at once what is not a matter of reaching Redis
 */
export async function persist<T>(call: () => Promise<T>, untilMs: () => number, log: Log): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    try {
      return await call();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (performance.now() + waitMs >= untilMs()) throw new OutOfReach('the queue is away', { cause: error });
      log.warn('the queue is away', { reason: describeThrown(error) });
      await delay(waitMs);
    }
  }
}
