import type { Redis } from 'ioredis';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import {
  claim,
  enqueue,
  extend,
  type ModelEnqueued,
  open,
  release,
  settle,
} from '../../functions/lib/domain/model/life.ts';
import { createModel, type Model, type ModelLease } from '../../functions/lib/domain/model/state.ts';
import { configure, purge, setPaused, subscribe, tick } from '../../functions/lib/domain/model/upkeep.ts';
import {
  assertNever,
  type EnqueueOutcome,
  type JobResult,
  type Lease,
  type Visit,
} from '../../functions/lib/domain/outcomes.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { NewJob, QueueClient } from '../../functions/lib/queue/queue-client.ts';
import { claim as claimScript } from '../../functions/lib/queue/scripts/claim.ts';
import { configure as configureScript } from '../../functions/lib/queue/scripts/configure.ts';
import { enqueue as enqueueScript } from '../../functions/lib/queue/scripts/enqueue.ts';
import { extend as extendScript } from '../../functions/lib/queue/scripts/extend.ts';
import { open as openScript } from '../../functions/lib/queue/scripts/open.ts';
import { pause as pauseScript } from '../../functions/lib/queue/scripts/pause.ts';
import { purge as purgeScript } from '../../functions/lib/queue/scripts/purge.ts';
import { release as releaseScript } from '../../functions/lib/queue/scripts/release.ts';
import { settle as settleScript } from '../../functions/lib/queue/scripts/settle.ts';
import { subscribe as subscribeScript } from '../../functions/lib/queue/scripts/subscribe.ts';
import { tick as tickScript } from '../../functions/lib/queue/scripts/tick.ts';
import { advance } from './advance.ts';
import { differences } from './compare.ts';
import { violations } from './invariants.ts';
import type { Pick, Step, StepResult } from './lockstep-steps.ts';
import { newJob } from './queue-fixture.ts';
import { type QueueState, readQueue } from './queue-state.ts';

const SCRIPTS = [
  claimScript,
  configureScript,
  enqueueScript,
  extendScript,
  openScript,
  pauseScript,
  purgeScript,
  releaseScript,
  settleScript,
  subscribeScript,
  tickScript,
];

/** What Redis answered to a step, and the step on the model at a time on the model's clock. Both answers as plain values. */
interface Played {
  readonly redis: unknown;
  readonly model: (model: Model, nowMs: number) => unknown;
}

/**
 * A queue in Redis and its model, led through the same steps. What Redis names (jobs, leases, tokens) the model takes
 * over; what Redis decides the model decides again. The server's time of a script lies between two readings around it:
 * where those differ, the model must agree for one of the times between.
 */
export class Lockstep {
  readonly #redis: Redis;
  readonly #queue: string;
  readonly #client: QueueClient;
  #config: QueueConfig;
  #model: Model;
  /** How far the model's clock is ahead: what `advance` took from Redis's times. */
  #aheadMs = 0;
  /** Every lease that ever was, tokens of earlier visits included. */
  readonly #known: Lease[] = [];
  /** A dispatcher was told that a visit is possible, and it was so ever since. */
  #told = false;
  #clock = { v: 0, epoch: 0 };

  private constructor(redis: Redis, queue: string, config: QueueConfig) {
    this.#redis = redis;
    this.#queue = queue;
    this.#config = config;
    this.#client = createQueueClient({ redis, queue, shard: 0 });
    this.#model = createModel(config);
  }

  /** Loads the scripts into a server: a first call that must send the source would come after the reading of the state. */
  static async load(redis: Redis): Promise<void> {
    for (const { source } of SCRIPTS) await redis.script('LOAD', source);
  }

  static async start(redis: Redis, queue: string, config: QueueConfig): Promise<Lockstep> {
    const lockstep = new Lockstep(redis, queue, config);
    await lockstep.#client.configure(config);
    return lockstep;
  }

  /** Plays a step on both sides; throws an error that names what differs or is broken. */
  async play(step: Step): Promise<void> {
    if (step.step === 'advance') {
      await advance(this.#redis, this.#queue, step.ms);
      this.#aheadMs += step.ms;
    }
    // All on one connection and without waiting in between, so that Redis runs them in this order; in one write, which
    // halves the time of the test.
    this.#redis.stream.cork();
    const from = this.#redis.time();
    const pending = this.#send(step);
    const to = this.#redis.time();
    const reading = readQueue(this.#redis, this.#queue);
    this.#redis.stream.uncork();
    const [played, state] = [await pending, await reading];
    const wrong = [
      ...this.#follow(played, state, ms(await from), ms(await to)),
      ...violations(state),
      ...this.#history(step, played, state),
    ];
    if (wrong.length > 0) throw new Error(`After ${JSON.stringify(step)}:\n- ${wrong.join('\n- ')}`);
  }

  /** Removes the queue's keys. */
  async end(): Promise<void> {
    const { prefix } = queueKeys(this.#queue, 0);
    const { keys } = await readQueue(this.#redis, this.#queue);
    if (keys.length > 0) await this.#redis.del(keys.map((key) => prefix + key));
  }

  #follow(played: Played, state: QueueState, fromMs: number, toMs: number): string[] {
    const before = fromMs === toMs ? this.#model : structuredClone(this.#model);
    let wrong: string[] = [];
    for (let now = fromMs; now <= toMs; now++) {
      this.#model = now === toMs ? before : structuredClone(before);
      const [redis, modelled] = [played.redis, played.model(this.#model, now + this.#aheadMs)].map((answer) =>
        JSON.stringify(answer),
      );
      wrong = differences(this.#model, state, this.#aheadMs);
      if (redis !== modelled) wrong.unshift(`the answer is ${redis} of Redis, ${modelled} of the model`);
      if (wrong.length === 0) return [];
    }
    return wrong;
  }

  /** What can only be seen over more than one step. */
  #history(step: Step, played: Played, state: QueueState): string[] {
    const wrong: string[] = [];
    const { v, epoch } = state.clock;
    if (epoch < this.#clock.epoch) wrong.push(`the epoch fell from ${this.#clock.epoch} to ${epoch}`);
    if (epoch === this.#clock.epoch && v < this.#clock.v) wrong.push(`V fell from ${this.#clock.v} to ${v}`);
    this.#clock = { v, epoch };
    const flight = state.opening.size + state.visits.size;
    const possible = !state.paused && state.rotation.length > 0 && flight < this.#config.capacity;
    const woken = step.step === 'wait' && played.redis === 'woken';
    this.#told = possible && (this.#told || woken || step.step === 'claim');
    if (possible && !this.#told && state.wakes === 0) wrong.push('a visit is possible and nobody was told');
    return wrong;
  }

  #pick({ any, number }: Pick, wanted: (lease: ModelLease) => boolean): Lease {
    const fitting = [...this.#model.leases.values()].filter(wanted);
    const pool: Lease[] = any || fitting.length === 0 ? this.#known : fitting;
    const { leaseId, token } = pool[number % Math.max(1, pool.length)] ?? { leaseId: '0-none', token: 'none' };
    return { leaseId, token };
  }

  async #send(step: Step): Promise<Played> {
    const client = this.#client;
    switch (step.step) {
      case 'enqueue':
        return this.#enqueue(step);
      case 'claim': {
        const { outcome, visits } = await client.claim(step.max);
        this.#known.push(...visits);
        const name = (place: number) => visits[place] ?? { leaseId: `unclaimed-${place}`, token: '' };
        return {
          redis: { outcome, visits: visits.map(({ leaseId, tenant, jobs, lanes }) => [leaseId, tenant, jobs, lanes]) },
          model: (model, nowMs) => {
            const claimed = claim(model, step.max, nowMs, name);
            const shown = claimed.visits.map(({ leaseId, tenant, jobs, lanes }) => [
              leaseId,
              tenant,
              jobs.length,
              lanes,
            ]);
            return { outcome: claimed.outcome, visits: shown };
          },
        };
      }
      case 'open': {
        const lease = this.#pick(step.lease, (held) => held.nonce === null);
        const answer = await client.open(lease, step.nonce);
        return {
          redis: answer.outcome === 'opened' ? this.#shownVisit(answer.visit) : answer,
          model: (model, nowMs) => {
            const opened = open(model, lease, step.nonce, nowMs);
            return opened.outcome === 'opened' ? shownLease(opened.lease) : opened;
          },
        };
      }
      case 'settle':
        return this.#settle(step);
      case 'extend': {
        const lease = this.#pick(step.lease, (held) => held.nonce !== null);
        const answer = await client.extend(lease);
        const shown = {
          ...answer,
          ...('expiresAtMs' in answer && { expiresAtMs: answer.expiresAtMs + this.#aheadMs }),
        };
        return { redis: shown, model: (model, nowMs) => extend(model, lease, nowMs) };
      }
      case 'release': {
        const lease = this.#pick(step.lease, (held) => held.nonce === null);
        return { redis: await client.release(lease), model: (model, nowMs) => release(model, lease, nowMs) };
      }
      case 'tick': {
        const { lapsed, crashed, promoted, released, purged } = await client.tick();
        return {
          redis: [lapsed, crashed, promoted, released, purged],
          model: (model, nowMs) => {
            const ticked = tick(model, nowMs);
            return [ticked.lapsed, ticked.crashed, ticked.promoted, ticked.released, ticked.purged.length];
          },
        };
      }
      case 'subscribe': {
        const answer = await client.subscribe(step.tenant, step.record);
        return {
          redis: sortedPlans(answer),
          model: (model, nowMs) => sortedPlans(subscribe(model, step.tenant, step.record, nowMs)),
        };
      }
      case 'pause':
      case 'resume':
        await client[step.step](step.tenant);
        return {
          redis: null,
          model: (model, nowMs) => {
            setPaused(model, step.tenant, step.step === 'pause', nowMs);
            return null;
          },
        };
      case 'purge':
        return {
          redis: await client.purge(step.tenant, step.scope),
          model: (model, nowMs) => purge(model, step.tenant, step.scope, nowMs),
        };
      case 'configure': {
        const version = this.#config.version + (step.old ? -1 : 1);
        const config = { ...this.#config, ...step.config, version };
        const answer = await client.configure(config);
        if (answer === 'configured') this.#config = config;
        return { redis: answer, model: (model) => configure(model, config) };
      }
      case 'wait': {
        const entry = await this.#redis.lpop(queueKeys(this.#queue, 0).wake);
        const answer = entry === null ? 'asleep' : 'woken';
        return { redis: answer, model: () => answer };
      }
      case 'advance':
        return { redis: null, model: () => null };
      default:
        return step satisfies never;
    }
  }

  async #enqueue(step: Extract<Step, { step: 'enqueue' }>): Promise<Played> {
    const { tenant, claimPlan, key } = step;
    const jobs = step.jobs.map((job): NewJob => newJob(job));
    const answer = await this.#client.enqueue({ tenant, claimPlan, idempotencyKey: key, jobs });
    const ids = 'ids' in answer ? answer.ids : [];
    const once = key === undefined ? undefined : { key, digest: JSON.stringify(step.jobs) };
    const named = jobs.map((job, index) => ({ ...job, id: ids[index] ?? `unnamed-${index}`, bytes: 7 }));
    return {
      redis: shownAdmission(answer),
      model: (model, nowMs) => shownAdmission(enqueue(model, { tenant, claimPlan, once, jobs: named }, nowMs)),
    };
  }

  async #settle(step: Extract<Step, { step: 'settle' }>): Promise<Played> {
    const lease = this.#pick(step.lease, (held) => held.nonce !== null);
    const places = this.#model.leases.get(lease.leaseId)?.jobs.length ?? 1;
    const given = Array.from({ length: Math.max(places, step.results.length) }, (_, index) =>
      resultOf(index + 1, index < step.results.length ? (step.results[index] ?? null) : step.rest),
    ).filter((result) => result !== null);
    // Every third list of results comes in reverse, since nothing promises that jobs finish in order.
    const results = step.lease.number % 3 === 0 ? given.toReversed() : given;
    const answer = await this.#client.settle(lease, results, { claimNext: step.claimNext });
    const visit = answer.outcome === 'continued' ? answer.visit : undefined;
    if (visit) this.#known.push(visit);
    const next = step.claimNext ? { leaseId: lease.leaseId, token: visit?.token ?? '' } : undefined;
    return {
      redis: visit ? this.#shownVisit(visit) : answer,
      model: (model, nowMs) => {
        const settled = settle(model, lease, results, nowMs, next);
        return settled.outcome === 'continued' ? shownLease(settled.lease) : settled;
      },
    };
  }

  #shownVisit(visit: Visit): unknown {
    const { leaseId, token, tenant, lanes, jobs } = visit;
    const endsAtMs = visit.expiresAtMs + this.#aheadMs;
    return [
      leaseId,
      token,
      tenant,
      lanes,
      visit.visit,
      endsAtMs,
      ...jobs.map((job) => [job.index, job.id, job.attempt]),
    ];
  }
}

function shownLease(lease: ModelLease): unknown {
  const { leaseId, token, tenant, lanes, visit, endsAtMs } = lease;
  const jobs = lease.jobs.flatMap((job, index) => (job ? [[index + 1, job.id, job.attempts + 1]] : []));
  return [leaseId, token, tenant, lanes, visit, endsAtMs, ...jobs];
}

function resultOf(index: number, given: StepResult | null): JobResult | null {
  if (given === null) return null;
  const { result, durationMs, retryDelayMs } = given;
  if (result === 'given_back') return { index, result };
  if (result === 'done') return { index, result, durationMs };
  if (result === 'failed') return { index, result, durationMs, retryDelayMs, error: 'thrown' };
  return { index, result, durationMs, error: 'thrown' };
}

/** What both sides say of an enqueue: not the rates, nor whether a dispatcher must be invoked. */
function shownAdmission(answer: EnqueueOutcome | ModelEnqueued): unknown {
  switch (answer.outcome) {
    case 'accepted':
    case 'repeated':
      return [answer.outcome, answer.ids, answer.depth];
    case 'full':
      return [answer.outcome, answer.depth, answer.limit, answer.room];
    case 'unknown_plan':
      return sortedPlans(answer);
    case 'conflict':
      return [answer.outcome];
    default:
      return assertNever(answer);
  }
}

/** The order of a configuration's plans means nothing. */
function sortedPlans(answer: { outcome: string; plans?: string[] }): unknown {
  return [answer.outcome, answer.plans?.toSorted((a, b) => (a < b ? -1 : 1))];
}

function ms(time: readonly (number | string)[]): number {
  return Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000);
}
