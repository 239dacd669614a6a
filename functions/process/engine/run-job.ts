import type { JobResult, VisitJob } from '../../lib/domain/outcomes.ts';
import { type Backoff, retryDelayMs } from '../../lib/domain/retry.ts';
import { isA } from '../../lib/domain/thrown.ts';
import { describeThrown, type Log, logWith } from '../../lib/telemetry/logger.ts';
import type { JobModule } from '../jobs/index.ts';
import { PermanentFailure, RetryAfter } from '../jobs/job.ts';

/** A job's time is up; the reason that its signal is aborted with. */
class JobTimeout extends Error {
  override readonly name = 'JobTimeout';
  readonly code = 'job_timeout';
  readonly retryable = true;
}

export interface JobRunnerOptions {
  readonly jobs: Readonly<Record<string, JobModule>>;
  readonly backoff: Backoff;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

type Ending = { readonly how: 'done' } | { readonly how: 'failed' | 'cut'; readonly thrown: unknown };

/** A job under way. */
export interface RunningJob {
  /** Never rejects. */
  readonly result: Promise<JobResult>;
  /** Aborts its signal; it counts as unfinished, whatever its handler does from now on. */
  cut(reason: Error): void;
}

function parsePayload(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new PermanentFailure('The payload is not JSON.');
  }
}

async function perform(
  tenant: string,
  job: VisitJob,
  timeoutMs: number,
  signal: AbortSignal,
  options: JobRunnerOptions,
) {
  const load = Object.hasOwn(options.jobs, job.type) ? options.jobs[job.type] : undefined;
  if (load === undefined) throw new PermanentFailure(`There is no job type ${job.type} in this release.`);
  const endsMs = performance.now() + timeoutMs;
  const { default: jobType } = await load().catch((error: unknown) => {
    // No fault of the job's: every one of its type fails until somebody repairs the release or its settings.
    options.log.error('job type does not load', { jobType: job.type, jobId: job.id, reason: describeThrown(error) });
    throw error;
  });
  // Cut while its type was being loaded: then it does not begin.
  signal.throwIfAborted();
  const payload = parsePayload(job.payload);
  const { id, type, attempt, traceparent } = job;
  const remainingMs = () => Math.max(0, endsMs - performance.now());
  const context = {
    signal,
    remainingMs,
    // Made when a handler asks for it: most do not.
    get logger() {
      return logWith(options.log, { jobId: id });
    },
  };
  await jobType.run({ id, tenant, type, payload, attempt, traceparent }, context);
}

/** Starts a job of a tenant. It has failed when its time is up, even if its handler does not heed the signal. */
export function startJob(tenant: string, job: VisitJob, timeoutMs: number, options: JobRunnerOptions): RunningJob {
  const startedMs = performance.now();
  const controller = new AbortController();
  const stopped = Promise.withResolvers<Ending>();

  const stop = (how: 'failed' | 'cut', thrown: Error) => {
    // First the ending, so that a handler which throws because of the abort does not decide it.
    stopped.resolve({ how, thrown });
    controller.abort(thrown);
  };
  const timer = setTimeout(() => stop('failed', new JobTimeout(`not done in ${timeoutMs} ms`)), timeoutMs);

  const performed = perform(tenant, job, timeoutMs, controller.signal, options).then(
    (): Ending => ({ how: 'done' }),
    (thrown: unknown): Ending => ({ how: 'failed', thrown }),
  );

  const toResult = (ending: Ending): JobResult => {
    const { index } = job;
    const durationMs = Math.round(performance.now() - startedMs);
    if (ending.how === 'done') return { index, result: 'done', durationMs };
    const error = describeThrown(ending.thrown);
    if (ending.how === 'cut') return { index, result: 'unfinished', durationMs, error };
    if (isA(ending.thrown, PermanentFailure)) return { index, result: 'dead', durationMs, error };
    const delayMs = isA(ending.thrown, RetryAfter)
      ? Math.ceil(ending.thrown.seconds * 1000)
      : retryDelayMs(job.attempt, options.backoff, options.random());
    return { index, result: 'failed', durationMs, retryDelayMs: delayMs, error };
  };

  const result = Promise.race([stopped.promise, performed]).then((ending) => {
    clearTimeout(timer);
    return toResult(ending);
  });
  return { result, cut: (reason) => stop('cut', reason) };
}
