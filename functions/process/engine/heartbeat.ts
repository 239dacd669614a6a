import type { ExtendOutcome, Visit } from '../../lib/domain/outcomes.ts';
import { describeThrown, type Log } from '../../lib/telemetry/logger.ts';

/** How soon a renewal is tried again when the queue was away, at most. */
const AGAIN_MS = 1_000;

interface HeartbeatOptions {
  readonly extend: () => Promise<ExtendOutcome>;
  /** Somebody waits for a slot: give back what has not started. */
  readonly onYield: () => void;
  /** The lease is over or another's. */
  readonly onLost: () => void;
  readonly log: Log;
}

export interface Heartbeat {
  /** When the lease ends unless it is renewed, on the clock of `performance.now()`; rather too early than too late. */
  readonly leaseEndsMs: () => number;
  /** Resolves when no renewal is under way any more. */
  stop(): Promise<void>;
}

/** Renews the lease of a visit at a third of its life, for as long as the visit is worked on. */
export function startHeartbeat(visit: Visit, openedMs: number, options: HeartbeatOptions): Heartbeat {
  const { extend, onYield, onLost, log } = options;
  // A difference of two times of Redis: this environment's clock has no say.
  const leaseMs = visit.expiresAtMs - visit.nowMs;
  const everyMs = leaseMs / 3;
  let leaseEndsMs = openedMs + leaseMs;
  let stopped = false;
  let beating = Promise.resolve();
  let timer: NodeJS.Timeout;

  const beat = async (): Promise<void> => {
    const askedMs = performance.now();
    let nextMs = everyMs;
    try {
      const outcome = await extend();
      if (stopped) return;
      if (outcome.outcome === 'stale') return onLost();
      leaseEndsMs = askedMs + leaseMs;
      if (outcome.yield) onYield();
    } catch (error) {
      log.warn('lease not renewed', { reason: describeThrown(error) });
      if (stopped) return;
      if (performance.now() >= leaseEndsMs) return onLost();
      nextMs = Math.min(AGAIN_MS, everyMs);
    }
    schedule(nextMs);
  };
  const schedule = (inMs: number): void => {
    timer = setTimeout(() => {
      beating = beat();
    }, inMs);
  };
  schedule(everyMs);

  return {
    leaseEndsMs: () => leaseEndsMs,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await beating;
    },
  };
}
