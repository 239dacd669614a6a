import type * as z from 'zod/mini';
import { pathText } from '../../lib/lambda/faults.ts';
import type { Log } from '../../lib/telemetry/logger.ts';

/** A job as its handler gets it. */
export interface Job<Payload = unknown> {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  /** What was enqueued, parsed and checked. */
  readonly payload: Payload;
  /** 1 for the first run. A job may run more than once: make its effect the same each time. */
  readonly attempt: number;
  /** The trace that its enqueue came with (W3C Trace Context), to go on with. */
  readonly traceparent?: string | undefined;
}

interface JobContext {
  /** Aborted when the job's time is up, or when it is another's by now: stop then. What comes later changes nothing. */
  readonly signal: AbortSignal;
  /** Milliseconds until the job's time is up. */
  readonly remainingMs: () => number;
  /** Its lines name request, lease, tenant and job. */
  readonly logger: Log;
}

/** Runs a job. Resolves when it is done; throws when it has failed, to be run again while it has attempts left. */
export type JobHandler<Payload> = (job: Job<Payload>, context: JobContext) => Promise<void>;

/** A job type, as the registry holds it. */
export interface JobType {
  readonly run: JobHandler<unknown>;
}

/** Thrown by a handler for a failure that running again cannot mend: the job becomes a dead letter at once. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
  readonly code = 'permanent_failure';
  readonly retryable = false;
}

const MOST_SECONDS = 30 * 86_400;

/** Thrown by a handler that knows when it makes sense to try again, such as from a `Retry-After`: it runs then, and not by the backoff. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly code = 'retry_after';
  readonly retryable = true;
  readonly seconds: number;

  /**
   * @param seconds from now, 0 to 2,592,000 (30 days); fractions are fine
   * @param message what it failed of, kept with the job
   * @throws RangeError for any other number
   */
  constructor(seconds: number, message = `to be run again in ${seconds} s`, options?: ErrorOptions) {
    super(message, options);
    if (!(seconds >= 0 && seconds <= MOST_SECONDS)) {
      throw new RangeError(`RetryAfter was given ${seconds}, expected seconds from 0 to ${MOST_SECONDS}`);
    }
    this.seconds = seconds;
  }
}

/** The `Retry-After` of an answer in seconds, as a number or a date of HTTP; null when it has none that makes sense. */
export function retryAfterOf(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - nowMs) / 1000;
  return Number.isFinite(seconds) ? Math.min(MOST_SECONDS, Math.max(0, seconds)) : null;
}

/** A job type from the schema of its payload and its handler. A payload that the schema refuses is a permanent failure. */
export const defineJob = <Payload extends z.ZodMiniType>(
  payload: Payload,
  handler: JobHandler<z.output<Payload>>,
): JobType => ({
  async run(job, context) {
    const read = payload.safeParse(job.payload);
    if (!read.success) {
      // The paths and no values: the message is kept and shown where the payload is not.
      const places = read.error.issues.map(({ path }) => pathText(['payload', ...path])).join(', ');
      throw new PermanentFailure(`The payload is not one of job type ${job.type}; see ${places}.`);
    }
    await handler({ ...job, payload: read.data }, context);
  },
});
