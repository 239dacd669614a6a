/** How long failed jobs wait. Milliseconds. */
export interface Backoff {
  /** Upper bound of the wait after the first attempt; it doubles with every further one. */
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * How long a job waits after its `attempt` (1 = the first run) has failed: anything between nothing and the doubled bound,
 * so that jobs which failed together do not come back together.
 *
 * @param random a number in [0, 1), drawn by the caller
 * @returns whole milliseconds
 */
export function retryDelayMs(attempt: number, { baseMs, capMs }: Backoff, random: number): number {
  return Math.floor(random * Math.min(capMs, baseMs * 2 ** (attempt - 1)));
}
