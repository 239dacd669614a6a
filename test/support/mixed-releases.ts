import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { JobResult, Lease, Visit, VisitJob } from '../../functions/lib/domain/outcomes.ts';
import type { QueueClient } from '../../functions/lib/queue/queue-client.ts';
import type { RedisConnection } from '../../functions/lib/queue/script.ts';
import { advance } from './advance.ts';
import type { Step, StepResult } from './lockstep-steps.ts';
import { newJob, testConfig } from './queue-fixture.ts';

interface OpenVisit extends Lease {
  /** Not settled yet. */
  readonly jobs: Map<number, VisitJob>;
}

/** One queue worked on by whichever client is given for a step. Knows what became of every job. */
export class MixedReleases {
  readonly accepted: string[] = [];
  /** In the order of their settles; twice, when a job was done twice. */
  readonly done: string[] = [];
  readonly #claimed: Lease[] = [];
  readonly #opened: OpenVisit[] = [];
  readonly #redis: RedisConnection;
  readonly #queue: string;
  #config: QueueConfig;

  constructor(redis: RedisConnection, queue: string, config: QueueConfig) {
    this.#redis = redis;
    this.#queue = queue;
    this.#config = config;
  }

  /** Plays a step through one client. A step about a lease, when there is none, does nothing. */
  async play(client: QueueClient, step: Step): Promise<void> {
    switch (step.step) {
      case 'enqueue': {
        const { tenant, claimPlan, key } = step;
        const answer = await client.enqueue({ tenant, claimPlan, idempotencyKey: key, jobs: step.jobs.map(newJob) });
        if (answer.outcome === 'accepted') this.accepted.push(...answer.ids);
        return;
      }
      case 'claim':
        this.#claimed.push(...(await client.claim(step.max)).visits);
        return;
      case 'open': {
        const lease = this.#claimed.at(step.lease.number % Math.max(1, this.#claimed.length));
        if (lease) await this.#open(client, lease, step.nonce);
        return;
      }
      case 'settle': {
        const visit = this.#opened.at(step.lease.number % Math.max(1, this.#opened.length));
        if (!visit) return;
        const results = [...visit.jobs.keys()].flatMap((index) => {
          const given = index <= step.results.length ? step.results[index - 1] : step.rest;
          return given ? [resultOf(index, given)] : [];
        });
        return this.#settle(client, visit, results, step.claimNext);
      }
      case 'extend': {
        const visit = this.#opened.at(step.lease.number % Math.max(1, this.#opened.length));
        if (visit) await client.extend(visit);
        return;
      }
      case 'release': {
        const lease = this.#claimed.at(step.lease.number % Math.max(1, this.#claimed.length));
        if (lease) await client.release(lease);
        return;
      }
      case 'tick':
        await client.tick();
        return;
      case 'advance':
        return advance(this.#redis, this.#queue, step.ms);
      case 'subscribe':
        await client.subscribe(step.tenant, step.record);
        return;
      case 'pause':
      case 'resume':
        await client[step.step](step.tenant);
        return;
      case 'configure': {
        const config = { ...this.#config, ...step.config, version: this.#config.version + (step.old ? -1 : 1) };
        const answer = await client.configure(config);
        if (answer !== (step.old ? 'kept' : 'configured')) throw new Error(`configure answered ${answer}`);
        if (!step.old) this.#config = config;
        return;
      }
      case 'wait':
      case 'purge':
      case 'redrive':
      case 'drop':
      case 'steer':
        // A purge takes jobs away uncounted, a redrive brings them back; nobody waits here; and the release has no other faces.
        return;
      default:
        return step satisfies never;
    }
  }

  /** Lifts every limit and works, through the two clients in turn, until the queue is empty. */
  async drain(clients: readonly [QueueClient, QueueClient], tenants: readonly string[]): Promise<void> {
    await clients[0].configure({ ...testConfig(), version: this.#config.version + 1 });
    for (const tenant of tenants) {
      await clients[0].resume(tenant);
      await clients[1].subscribe(tenant, {});
    }
    for (let round = 0; round < 200; round++) {
      const [one, other] = round % 2 === 0 ? clients : [clients[1], clients[0]];
      await advance(this.#redis, this.#queue, 700_000);
      await one.tick();
      for (const lease of (await other.claim(50)).visits) {
        const visit = await this.#open(one, lease, 'drain');
        if (!visit) continue;
        const results = [...visit.jobs.keys()].map((index) => ({ index, result: 'done' as const, durationMs: 1 }));
        await this.#settle(other, visit, results, false);
      }
      const { ready, delayed, inFlight } = await one.stats();
      if (ready + delayed + inFlight === 0) return;
    }
    throw new Error('the queue does not drain');
  }

  async #open(client: QueueClient, lease: Lease, nonce: string): Promise<OpenVisit | undefined> {
    const answer = await client.open(lease, nonce);
    if (answer.outcome !== 'opened') return undefined;
    return this.#know(answer.visit);
  }

  #know(visit: Visit): OpenVisit {
    // A repeated open tells the same jobs, without those settled since.
    const opened = { ...visit, jobs: new Map(visit.jobs.map((job) => [job.index, job])) };
    this.#opened.push(opened);
    return opened;
  }

  async #settle(client: QueueClient, visit: OpenVisit, results: JobResult[], claimNext: boolean): Promise<void> {
    const answer = await client.settle(visit, results, { claimNext });
    if (answer.outcome === 'stale') return;
    for (const { index, result } of results) {
      const job = visit.jobs.get(index);
      for (const known of this.#opened) if (known.token === visit.token) known.jobs.delete(index);
      if (job && result === 'done') this.done.push(job.id);
    }
    if (answer.outcome === 'continued') this.#know(answer.visit);
  }
}

function resultOf(index: number, { result, durationMs, retryDelayMs }: StepResult): JobResult {
  if (result === 'given_back') return { index, result };
  if (result === 'done') return { index, result, durationMs };
  if (result === 'failed') return { index, result, durationMs, retryDelayMs, error: 'thrown' };
  return { index, result, durationMs, error: 'thrown' };
}
