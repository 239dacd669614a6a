import {
  assertNever,
  type JobResult,
  type Lease,
  type SettleOutcome,
  type Visit,
  type VisitJob,
} from '../../lib/domain/outcomes.ts';
import type { Worker } from '../../lib/queue/queue-client.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { createLatch } from './latch.ts';
import { OutOfReach, persist } from './persist.ts';
import { type JobRunnerOptions, type RunningJob, startJob } from './run-job.ts';

/** A result waits at most so long for others to go with it. */
const COALESCE_MS = 100;

export interface VisitOptions extends JobRunnerOptions {
  readonly queue: Pick<Worker, 'open' | 'extend' | 'settle'>;
  /** Whose metrics the visits are told in. */
  readonly metricsName: string;
  /** Time of a job that names none itself. */
  readonly jobTimeoutMs: number;
  /** When everything must be settled, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
}

/** How a visit ended, and what it did. */
export interface VisitEnd {
  readonly outcome: 'ended' | 'continued' | 'lost';
  /** The next visit of the same lease, and when it was asked for. */
  readonly next?: { readonly visit: Visit; readonly askedMs: number };
  readonly counts: Readonly<Record<JobResult['result'], number>>;
  /** How long each job that was started had been ready by then, in ms. */
  readonly waitsMs: readonly number[];
}

/** The work of one visit: its jobs, `lanes` at a time, and what is told to the queue meanwhile. */
class VisitRun {
  private readonly visit: Visit;
  private readonly lease: Lease;
  private readonly options: VisitOptions;
  private readonly pending: VisitJob[];
  private readonly running = new Map<number, RunningJob>();
  private finished: JobResult[] = [];
  private readonly counts = { done: 0, failed: 0, dead: 0, given_back: 0, unfinished: 0 };
  private readonly waitsMs: number[] = [];
  /** Redis' clock less this process', as it was when the visit came. */
  private readonly clockAheadMs: number;
  private readonly latch = createLatch();
  private readonly heartbeat: Heartbeat;
  /** Since when the oldest finished result waits to be settled. */
  private finishedSinceMs = Number.POSITIVE_INFINITY;
  private stopping = false;
  private outOfTime = false;
  private lost = false;
  /** The first job of an invocation always starts: nowhere could it have more time. */
  private startedAny: boolean;

  constructor(visit: Visit, openedMs: number, first: boolean, options: VisitOptions) {
    this.visit = visit;
    this.lease = { leaseId: visit.leaseId, token: visit.token };
    this.options = options;
    this.pending = [...visit.jobs];
    this.startedAny = !first;
    this.clockAheadMs = visit.nowMs - performance.now();
    this.heartbeat = startHeartbeat(visit, openedMs, {
      extend: () => options.queue.extend(this.lease),
      onYield: () => this.stop(),
      onLost: () => this.lose(),
      log: options.log,
    });
  }

  async run(): Promise<VisitEnd> {
    try {
      return await this.work();
    } catch (error) {
      if (!(error instanceof OutOfReach)) throw error;
      return this.end('lost');
    } finally {
      await this.cutRunning(new Error('the visit is over'));
      await this.heartbeat.stop();
    }
  }

  private async work(): Promise<VisitEnd> {
    for (;;) {
      if (this.lost) return this.end('lost');
      if (performance.now() >= this.options.deadlineMs) await this.cutShort();
      this.startJobs();
      if (this.running.size === 0) return this.settleLast();
      if (performance.now() >= this.finishedSinceMs + COALESCE_MS) await this.settleFinished();
      else await this.latch.wait(this.nextMs() - performance.now());
    }
  }

  /** When something is to be done even if nothing happens before. */
  private nextMs(): number {
    return Math.min(this.options.deadlineMs, this.finishedSinceMs + COALESCE_MS);
  }

  private startJobs(): void {
    while (!this.stopping && this.running.size < this.visit.lanes) {
      const [job] = this.pending;
      if (job === undefined) return;
      const timeoutMs = job.timeoutSeconds > 0 ? job.timeoutSeconds * 1000 : this.options.jobTimeoutMs;
      // Started and cut short it would lose an attempt; given back it loses nothing.
      if (this.startedAny && performance.now() + timeoutMs > this.options.deadlineMs) {
        this.outOfTime = true;
        return this.stop();
      }
      this.pending.shift();
      this.startedAny = true;
      this.start(job, timeoutMs);
    }
  }

  private start(job: VisitJob, timeoutMs: number): void {
    this.waitsMs.push(Math.max(0, performance.now() + this.clockAheadMs - job.readySinceMs));
    const started = startJob(this.visit.tenant, job, timeoutMs, this.options);
    this.running.set(job.index, started);
    void this.finish(started);
  }

  private async finish({ result }: RunningJob): Promise<void> {
    const finished = await result;
    this.running.delete(finished.index);
    this.finished.push(finished);
    this.finishedSinceMs = Math.min(this.finishedSinceMs, performance.now());
    this.latch.open();
  }

  private stop(): void {
    this.stopping = true;
    this.latch.open();
  }

  private lose(): void {
    this.lost = true;
    this.latch.open();
  }

  private cutRunning(reason: Error): Promise<unknown> {
    const results = [...this.running.values()].map((running) => {
      running.cut(reason);
      return running.result;
    });
    return Promise.all(results);
  }

  private async cutShort(): Promise<void> {
    this.stopping = true;
    await this.cutRunning(new Error('the time of the invocation is up'));
  }

  private async settleFinished(): Promise<void> {
    const outcome = await this.settle(this.takeFinished(), false);
    if (outcome.outcome === 'stale' || outcome.outcome === 'ended') this.lose();
    else if (outcome.outcome === 'settled' && outcome.yield) this.stop();
  }

  private async settleLast(): Promise<VisitEnd> {
    const givenBack = this.pending.map(({ index }): JobResult => ({ index, result: 'given_back' }));
    const askedMs = performance.now();
    // A visit claimed with less time than its jobs may take would only be given back, and perhaps claimed again at once.
    const claimNext = !this.outOfTime && askedMs + this.options.jobTimeoutMs <= this.options.deadlineMs;
    const outcome = await this.settle([...this.takeFinished(), ...givenBack], claimNext);
    switch (outcome.outcome) {
      case 'continued':
        return { ...this.end('continued'), next: { visit: outcome.visit, askedMs } };
      case 'ended':
        return this.end('ended');
      case 'stale':
        return this.end('lost');
      case 'settled':
        throw new Error(`all jobs were settled, and the queue counts ${outcome.left} left`);
      default:
        return assertNever(outcome);
    }
  }

  private takeFinished(): JobResult[] {
    const results = this.finished;
    this.finished = [];
    this.finishedSinceMs = Number.POSITIVE_INFINITY;
    return results;
  }

  private async settle(results: readonly JobResult[], claimNext: boolean): Promise<SettleOutcome> {
    const { queue, deadlineMs, log } = this.options;
    const untilMs = () => Math.max(Math.min(this.heartbeat.leaseEndsMs(), deadlineMs), 0);
    const outcome = await persist(() => queue.settle(this.lease, results, { claimNext }), untilMs, log);
    if (outcome.outcome !== 'stale') for (const { result } of results) this.counts[result]++;
    return outcome;
  }

  private end(outcome: VisitEnd['outcome']): VisitEnd {
    return { outcome, counts: { ...this.counts }, waitsMs: this.waitsMs };
  }
}

/**
 * Works off one visit and settles every job of it.
 *
 * @param openedMs when the lease was asked for, on the clock of `performance.now()`
 * @param first whether nothing was started in this invocation yet
 */
export const runVisit = (visit: Visit, openedMs: number, first: boolean, options: VisitOptions): Promise<VisitEnd> =>
  new VisitRun(visit, openedMs, first, options).run();
