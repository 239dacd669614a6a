import type { EnqueueBody, NewJobBody } from '../contract/jobs.ts';
import { PAYLOAD_MAX_BYTES, payloadText } from '../lib/domain/payload.ts';
import { type Fault, RequestProblem } from '../lib/domain/problems.ts';
import { parseTraceparent } from '../lib/domain/traceparent.ts';
import { rejectFaults, rejectOversize } from '../lib/lambda/request.ts';
import type { NewJob } from '../lib/queue/queue-client.ts';

/** What a queue's settings say about the jobs it takes. */
export interface JobRules {
  readonly jobTypes: readonly string[];
  readonly maxAttempts: number;
  /** Longest timeout a job may ask for. */
  readonly longestSeconds: number;
}

/** What came with the jobs. */
export interface JobsSource {
  /** The text of the request; absent when it came parsed. */
  readonly source: string | undefined;
  /** The header `traceparent`, as it was given. */
  readonly trace: string | undefined;
}

function rejectUnknownTypes(jobs: readonly NewJobBody[], jobTypes: readonly string[]): void {
  const errors = jobs.flatMap(({ type }, index): Fault[] =>
    jobTypes.includes(type)
      ? []
      : [
          {
            in: 'body',
            path: `jobs[${index}].type`,
            detail: `given ${JSON.stringify(type)}, expected a known job type`,
          },
        ],
  );
  if (errors.length === 0) return;
  const detail = `${errors.length} of ${jobs.length} jobs have an unknown type; known job types are ${jobTypes.join(', ')}.`;
  throw new RequestProblem('unknown_job_type', detail, { errors, jobTypes });
}

/** Payloads as they are kept. Faults of all jobs are told at once. */
function payloadTexts(jobs: readonly NewJobBody[], source: string | undefined): string[] {
  const faults: Fault[] = [];
  const tooLarge: Fault[] = [];
  const texts = jobs.map(({ payload }, index) => {
    const path = `jobs[${index}].payload`;
    const read = payloadText(payload, source);
    if ('fault' in read) {
      faults.push({ in: 'body', path, detail: `expected ${read.fault}` });
      return '';
    }
    if (read.bytes > PAYLOAD_MAX_BYTES) {
      tooLarge.push({ in: 'body', path, detail: `given ${read.bytes} bytes, expected at most ${PAYLOAD_MAX_BYTES}` });
    }
    return read.text;
  });
  rejectFaults(faults);
  if (tooLarge.length > 0) {
    const detail = `${tooLarge.length} of ${jobs.length} payloads have more than ${PAYLOAD_MAX_BYTES} bytes; put large data elsewhere and name its place.`;
    throw new RequestProblem('too_large', detail, { errors: tooLarge });
  }
  return texts;
}

/**
 * The jobs of a request as the queue takes them.
 *
 * @throws RequestProblem 400, 413 or 422 naming every job that cannot be taken
 */
export function newJobs({ jobs }: EnqueueBody, { source, trace }: JobsSource, rules: JobRules): NewJob[] {
  rejectFaults(
    jobs.flatMap(({ timeoutSeconds = 0 }, index): Fault[] => {
      if (timeoutSeconds <= rules.longestSeconds) return [];
      const detail = `given ${timeoutSeconds}, expected at most ${rules.longestSeconds}, what the processing function has time for`;
      return [{ in: 'body', path: `jobs[${index}].timeoutSeconds`, detail }];
    }),
  );
  rejectUnknownTypes(jobs, rules.jobTypes);
  const texts = payloadTexts(jobs, source);
  // A direct invoke may bring 6 MB; what a producer may send must not depend on the way it comes.
  if (source === undefined) rejectOversize(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  const traceparent = parseTraceparent(trace);
  return jobs.map((job, index) => ({
    type: job.type,
    payload: texts[index] ?? '',
    delayMs: Math.round((job.delaySeconds ?? 0) * 1000),
    cost: job.cost ?? 1,
    maxAttempts: job.maxAttempts ?? rules.maxAttempts,
    timeoutSeconds: job.timeoutSeconds ?? 0,
    traceparent,
  }));
}
