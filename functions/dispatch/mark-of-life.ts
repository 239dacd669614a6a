import type { Dispatcher } from '../lib/queue/queue-client.ts';
import { describeThrown, type Log } from '../lib/telemetry/logger.ts';

/** The mark lives for 3 s: two renewals may fail before it is gone. */
const RENEW_MS = 1_000;

export interface MarkOfLife {
  /** Sets the mark and keeps it from now on, unless it is being kept already. */
  keep(): Promise<void>;
  /** Stops renewing it, and resolves when none is under way: whoever takes the mark away then can be sure that it stays away. */
  stop(): Promise<void>;
}

/** A dispatcher's mark of life: as long as it is there, an enqueue invokes no other. Renewed also while the loop blocks. */
export function createMarkOfLife(queue: Pick<Dispatcher, 'markDispatcher'>, log: Log): MarkOfLife {
  let timer: NodeJS.Timeout | undefined;
  let marking: Promise<void> | undefined;

  const mark = (wish: 'take' | 'keep'): Promise<void> => {
    marking ??= queue
      .markDispatcher(wish)
      .catch((error: unknown) => log.warn('mark of life not renewed', { reason: describeThrown(error) }))
      .finally(() => {
        marking = undefined;
      });
    return marking;
  };

  return {
    async keep() {
      if (timer !== undefined) return;
      timer = setInterval(() => void mark('keep'), RENEW_MS);
      // The youngest holds it: it will be there longest.
      await mark('take');
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await marking;
    },
  };
}
