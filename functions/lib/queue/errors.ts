/** Redis is away, read-only, out of memory or too slow to answer; nothing is known to have changed. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
  readonly code = 'queue_unavailable';
  readonly retryable = true;
}

/** Redis holds no configuration of this queue: it was emptied, or nothing has configured it yet. */
export class QueueUnconfigured extends Error {
  override readonly name = 'QueueUnconfigured';
  readonly code = 'queue_unconfigured';
  readonly retryable = true;
}

/** A script failed in itself: a fault of this code, not of Redis' state. */
export class ScriptFailed extends Error {
  override readonly name = 'ScriptFailed';
  readonly code = 'script_failed';
  readonly retryable = false;
}
