import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimOutcome } from '../lib/domain/outcomes.ts';
import type { Dispatcher } from '../lib/queue/queue-client.ts';
import { describeThrown, type Log } from '../lib/telemetry/logger.ts';
import type { Launcher } from './launcher.ts';
import type { MarkOfLife } from './mark-of-life.ts';

/** Visits of one claim, and most that may wait for their invocation. */
const CLAIM_MAX = 50;
/** Longest block on the wake list. */
const BLOCK_MS = 5_000;
/** Nothing wakes a dispatcher when a lease is opened, so that it has to look. */
const UNOPENED_MS = 250;
/** What is due later than this is left to the dispatcher of the next minute. */
const HORIZON_MS = 60_000;
/** Between two looks at something that is due but does not come. */
const LEAST_WAIT_MS = 20;
const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 2_000;

interface LoopOptions {
  readonly queue: Pick<Dispatcher, 'tick' | 'claim' | 'waitForWake' | 'unmarkDispatcher'>;
  readonly launcher: Launcher;
  readonly mark: MarkOfLife;
  readonly log: Log;
  /** When to return at the latest, on the clock of `performance.now()`. */
  readonly untilMs: number;
}

/** No visit is possible or in flight, and none will be before the next dispatcher comes. */
const isIdle = ({ outcome, inFlight, nextDueMs, nowMs }: ClaimOutcome): boolean =>
  (outcome === 'empty' || outcome === 'paused') &&
  inFlight === 0 &&
  (nextDueMs === null || nextDueMs - nowMs > HORIZON_MS);

function blockMs({ outcome, nextDueMs, nowMs }: ClaimOutcome, leftMs: number): number {
  const most = outcome === 'unopened' ? UNOPENED_MS : BLOCK_MS;
  const untilDueMs = nextDueMs === null ? most : nextDueMs - nowMs;
  // Never 0, which to Redis means for ever.
  return Math.max(LEAST_WAIT_MS, Math.min(most, untilDueMs, leftMs));
}

/** Claims visits and has them invoked until its time is up or nothing is left to wait for. */
class DispatchLoop {
  private readonly options: LoopOptions;
  /** Whether a visit was claimed since the last full block: then the next may well follow. */
  private lively = false;

  constructor(options: LoopOptions) {
    this.options = options;
  }

  async run(): Promise<void> {
    const { launcher, log, untilMs } = this.options;
    let backoffMs = FIRST_BACKOFF_MS;
    while (performance.now() < untilMs) {
      try {
        if (await this.turn()) return;
        backoffMs = FIRST_BACKOFF_MS;
      } catch (error) {
        log.warn('turn failed', { reason: describeThrown(error) });
        await delay(backoffMs);
        backoffMs = Math.min(LONGEST_BACKOFF_MS, backoffMs * 2);
      }
    }
    await this.leave().catch((error: unknown) =>
      log.warn('left without a last look', { reason: describeThrown(error) }),
    );
    await launcher.settled();
  }

  /** One look at the queue, and what follows from it. True when there is nothing left to stay for. */
  private async turn(): Promise<boolean> {
    const { queue, launcher, mark, untilMs } = this.options;
    // It was let go when leaving was tried and came to nothing.
    await mark.keep();
    const room = CLAIM_MAX - launcher.pending;
    if (room <= 0) {
      await launcher.next();
      return false;
    }
    const { more } = await queue.tick();
    const claimed = await queue.claim(room);
    if (this.take(claimed) || more) return false;
    if (isIdle(claimed) && launcher.pending === 0 && !this.lively) return this.leave();
    const woken = await queue.waitForWake(blockMs(claimed, untilMs - performance.now()));
    if (!woken) this.lively = false;
    return false;
  }

  private take({ visits }: ClaimOutcome): boolean {
    if (visits.length === 0) return false;
    this.lively = true;
    this.options.launcher.launch(visits);
    return true;
  }

  /**
   * Takes its mark away and looks once more. What came before the mark went relied on it, and is seen now; what comes later
   * finds no mark and invokes a dispatcher. The mark of a dispatcher that came since stays: else an enqueue would invoke one
   * more for every one that leaves, and they would become more and more. True when there was nothing.
   */
  private async leave(): Promise<boolean> {
    const { queue, mark } = this.options;
    await mark.stop();
    await queue.unmarkDispatcher();
    const claimed = await queue.claim(CLAIM_MAX);
    return !this.take(claimed) && isIdle(claimed);
  }
}

/** Runs a dispatcher; see the class. */
export const dispatchLoop = (options: LoopOptions): Promise<void> => new DispatchLoop(options).run();
