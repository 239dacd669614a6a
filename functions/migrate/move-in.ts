import { setTimeout as delay } from 'node:timers/promises';
import { assertNever } from '../lib/domain/outcomes.ts';
import { REQUEST_MAX_BYTES } from '../lib/domain/payload.ts';
import type { NewJob, Producer } from '../lib/queue/queue-client.ts';
import { type ElementRules, readElement } from './element.ts';
import type { Batch, Source } from './source-list.ts';

/** As an enqueue over HTTP: so many jobs, so many bytes. */
const JOBS_MAX = 500;
/** Tenants whose jobs are under way at once. */
const AT_ONCE = 32;
/** Between two tries at a tenant that is full. */
const FULL_MS = 1_000;
/** Kept between the end of Rota's memory for a batch and the last moment at which it is still gone on with. */
const MARGIN_MS = 600_000;

interface MoveInProgress {
  readonly moved: number;
  readonly rejected: number;
  readonly left: number;
  /** Tenants that wait for room under their caps. */
  readonly full: readonly string[];
}

export interface MoveInOptions {
  readonly source: Source;
  readonly queue: Pick<Producer, 'enqueue'>;
  readonly rules: ElementRules;
  /** Elements of a batch. The larger, the more jobs of a tenant go in one step. */
  readonly batchSize: number;
  /** How long Rota remembers idempotency keys (its setting `idempotencySeconds`). */
  readonly rememberedMs: number;
  /** Ends the move after the batch that is under way, or while a tenant of it is full. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: MoveInProgress) => void;
}

export interface MovedIn {
  readonly moved: number;
  readonly rejected: number;
  /** Why elements were rejected, and how many for each reason. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly finished: boolean;
}

/** Rejected elements are kept as they were, beside the reason. */
const rejectOf = (element: string, reason: string): string => JSON.stringify({ reason, element });

interface Sorted {
  readonly tenants: Map<string, NewJob[]>;
  readonly rejects: string[];
  readonly reasons: string[];
}

function sort(batch: Batch, rules: ElementRules): Sorted {
  const sorted: Sorted = { tenants: new Map(), rejects: [], reasons: [] };
  for (const element of batch.elements) {
    const read = readElement(element, rules);
    if ('reason' in read) {
      sorted.rejects.push(rejectOf(element, read.reason));
      sorted.reasons.push(read.reason);
    } else {
      const jobs = sorted.tenants.get(read.tenant);
      if (jobs) jobs.push(read.job);
      else sorted.tenants.set(read.tenant, [read.job]);
    }
  }
  return sorted;
}

/** Jobs of one tenant in parts that an enqueue takes; the same jobs make the same parts. */
function* parts(jobs: readonly NewJob[]): Generator<NewJob[]> {
  let part: NewJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const size = Buffer.byteLength(job.payload);
    if (part.length === JOBS_MAX || (part.length > 0 && bytes + size > REQUEST_MAX_BYTES)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(job);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/**
 * Moves the elements of an old queue into the tenants' queues, each once, while its producers and Rota's workers go on. A batch
 * is taken aside in one step and enqueued under idempotency keys made of its name: whatever dies, the next run finds it there
 * and goes on with the same keys, under which what was enqueued already is not enqueued again.
 *
 * @throws Error when the batch under way is older than Rota's memory, or was read by other rules before.
 */
export async function moveIn(options: MoveInOptions): Promise<MovedIn> {
  const { source, rules, batchSize, signal, onProgress } = options;
  const full = new Set<string>();
  const reasons: Record<string, number> = {};
  let [moved, rejected] = [0, 0];
  const told = (finished: boolean): MovedIn => ({ moved, rejected, reasons, finished });

  while (!signal.aborted) {
    const batch = await source.take(batchSize, JSON.stringify(rules));
    if (batch === null) return told(true);
    rejectForgotten(batch, options.rememberedMs);
    rejectOtherRules(batch, rules);
    const sorted = sort(batch, rules);
    const tell = async () => onProgress({ moved, rejected, left: await source.left(), full: [...full] });
    const tenants = sorted.tenants.entries();
    const work = async () => {
      for (const [tenant, jobs] of tenants) {
        if (!(await enqueueAll(tenant, jobs, batch, options, { full, tell }))) return;
        moved += jobs.length;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // Stopped in the middle: the batch stays aside, for the next run.
    if (full.size > 0) break;
    await source.finish(batch, sorted.rejects);
    rejected += sorted.rejects.length;
    for (const reason of sorted.reasons) reasons[reason] = (reasons[reason] ?? 0) + 1;
    await tell();
  }
  return told(false);
}

function rejectForgotten({ takenAtMs }: Batch, rememberedMs: number): void {
  if (Date.now() - takenAtMs < rememberedMs - MARGIN_MS) return;
  throw new Error(
    `A batch has been under way since ${new Date(takenAtMs).toISOString()}, longer than Rota remembers what of it was enqueued. ` +
      'Compare its elements (the list that ends in :rota-moving) with the jobs of the queue, put back those that are missing, and delete it.',
  );
}

/** Read by other rules, elements could be another tenant's, under whose keys they were never enqueued. */
function rejectOtherRules(batch: Batch, rules: ElementRules): void {
  if (batch.rules === JSON.stringify(rules)) return;
  throw new Error(
    `The batch under way was begun with other options (${batch.rules}): end it with those, then go on with the new ones.`,
  );
}

/** Enqueues the jobs of a tenant of a batch, in order, waiting for room where there is none; false when told to stop meanwhile. */
async function enqueueAll(
  tenant: string,
  jobs: readonly NewJob[],
  batch: Batch,
  { queue, signal }: MoveInOptions,
  { full, tell }: { full: Set<string>; tell: () => Promise<void> },
): Promise<boolean> {
  let number = 0;
  for (const part of parts(jobs)) {
    const idempotencyKey = `migrate ${batch.id} ${(number += 1)}`;
    for (;;) {
      const outcome = await queue.enqueue({ tenant, idempotencyKey, jobs: part });
      if (outcome.outcome === 'accepted' || outcome.outcome === 'repeated') break;
      if (outcome.outcome !== 'full') throw refusal(tenant, outcome.outcome);
      full.add(tenant);
      await tell();
      if (signal.aborted) return false;
      await delay(FULL_MS, undefined, { signal }).catch(() => undefined);
    }
    full.delete(tenant);
  }
  return true;
}

function refusal(tenant: string, outcome: 'conflict' | 'unknown_plan'): Error {
  switch (outcome) {
    case 'conflict':
      return new Error(
        `Part of the batch under way was enqueued for ${JSON.stringify(tenant)} with other options: run it again with those of the first run.`,
      );
    case 'unknown_plan':
      return new Error(`The queue does not know a plan of ${JSON.stringify(tenant)}.`);
    default:
      return assertNever(outcome);
  }
}
