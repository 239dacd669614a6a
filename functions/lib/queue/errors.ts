/**
 * Redis is away, too slow to answer, or refuses writes (NOREPLICAS, CLUSTERDOWN, OOM, READONLY …). A refusal comes before a
 * script begins and changes nothing; where no answer came, the script may have run.
 */
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
