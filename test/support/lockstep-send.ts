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
import { dropDead, redrive, steer } from '../../functions/lib/domain/model/dead.ts';
import type { Model, ModelLease } from '../../functions/lib/domain/model/state.ts';
import { configure, purge, setPaused, subscribe, tick } from '../../functions/lib/domain/model/upkeep.ts';
import {
  assertNever,
  type EnqueueOutcome,
  type JobResult,
  type Lease,
  type Visit,
} from '../../functions/lib/domain/outcomes.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import type { NewJob, QueueClient } from '../../functions/lib/queue/queue-client.ts';
import type { Pick, Step, StepResult } from './lockstep-steps.ts';
import { newJob } from './queue-fixture.ts';

/** What Redis answered to a step, and the step on the model at a time on the model's clock. Both answers as plain values. */
export interface Played {
  readonly redis: unknown;
  readonly model: (model: Model, nowMs: number) => unknown;
}

/** A queue in Redis, and the model that follows it. */
export interface Sides {
  readonly redis: Redis;
  readonly queue: string;
  readonly client: QueueClient;
  config: QueueConfig;
  model: Model;
  /** How far the model's clock is ahead: what `advance` took from Redis's times. */
  aheadMs: number;
  /** Every lease that ever was, tokens of earlier visits included. */
  readonly known: Lease[];
}

function pick(sides: Sides, { any, number }: Pick, wanted: (lease: ModelLease) => boolean): Lease {
  const fitting = [...sides.model.leases.values()].filter(wanted);
  const pool: Lease[] = any || fitting.length === 0 ? sides.known : fitting;
  const { leaseId, token } = pool[number % Math.max(1, pool.length)] ?? { leaseId: '0-none', token: 'none' };
  return { leaseId, token };
}

/** Plays a step on Redis and says how to play it on the model. Its command is on the connection before this returns. */
export async function send(sides: Sides, step: Step): Promise<Played> {
  const { client } = sides;
  switch (step.step) {
    case 'enqueue':
      return sendEnqueue(sides, step);
    case 'claim': {
      const { outcome, visits } = await client.claim(step.max);
      sides.known.push(...visits);
      const name = (place: number) => visits[place] ?? { leaseId: `unclaimed-${place}`, token: '' };
      return {
        redis: { outcome, visits: visits.map(({ leaseId, tenant, jobs, lanes }) => [leaseId, tenant, jobs, lanes]) },
        model: (model, nowMs) => {
          const claimed = claim(model, step.max, nowMs, name);
          const shown = claimed.visits.map(({ leaseId, tenant, jobs, lanes }) => [leaseId, tenant, jobs.length, lanes]);
          return { outcome: claimed.outcome, visits: shown };
        },
      };
    }
    case 'open': {
      const lease = pick(sides, step.lease, (held) => held.nonce === null);
      const answer = await client.open(lease, step.nonce);
      return {
        redis: answer.outcome === 'opened' ? shownVisit(sides, answer.visit) : answer,
        model: (model, nowMs) => {
          const opened = open(model, lease, step.nonce, nowMs);
          return opened.outcome === 'opened' ? shownLease(opened.lease) : opened;
        },
      };
    }
    case 'settle':
      return sendSettle(sides, step);
    case 'extend': {
      const lease = pick(sides, step.lease, (held) => held.nonce !== null);
      const answer = await client.extend(lease);
      const shown = {
        ...answer,
        ...('expiresAtMs' in answer && { expiresAtMs: answer.expiresAtMs + sides.aheadMs }),
      };
      return { redis: shown, model: (model, nowMs) => extend(model, lease, nowMs) };
    }
    case 'release': {
      const lease = pick(sides, step.lease, (held) => held.nonce === null);
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
    case 'redrive': {
      const id = letterOf(sides, step);
      const answer = await client.redrive(step.tenant, id);
      return {
        redis: answer && { redriven: answer.redriven, remaining: answer.remaining },
        model: (model, nowMs) => redrive(model, step.tenant, id, nowMs),
      };
    }
    case 'drop': {
      const id = letterOf(sides, step);
      const dropped = await client.dropDead(step.tenant, id);
      return { redis: dropped, model: (model, nowMs) => dropDead(model, step.tenant, id, nowMs) };
    }
    case 'steer':
      await client.steer(step);
      return {
        redis: null,
        model: (model) => {
          steer(model, step);
          return null;
        },
      };
    case 'configure': {
      const version = sides.config.version + (step.old ? -1 : 1);
      const config = { ...sides.config, ...step.config, version };
      const answer = await client.configure(config);
      if (answer === 'configured') sides.config = config;
      return { redis: answer, model: (model) => configure(model, config) };
    }
    case 'wait': {
      const entry = await sides.redis.lpop(queueKeys(sides.queue, 0).wake);
      const answer = entry === null ? 'asleep' : 'woken';
      return { redis: answer, model: () => answer };
    }
    case 'advance':
      return { redis: null, model: () => null };
    default:
      return step satisfies never;
  }
}

/** The id of a dead letter of the tenant by its number, or one that there is not. */
function letterOf(
  sides: Sides,
  { tenant, letter }: { tenant: string; letter: number | undefined },
): string | undefined {
  if (letter === undefined) return undefined;
  return sides.model.tenants.get(tenant)?.dead[letter]?.id ?? `0-${'0'.repeat(24)}`;
}

async function sendEnqueue(sides: Sides, step: Extract<Step, { step: 'enqueue' }>): Promise<Played> {
  const { tenant, claimPlan, key } = step;
  const jobs = step.jobs.map((job): NewJob => newJob(job));
  const answer = await sides.client.enqueue({ tenant, claimPlan, idempotencyKey: key, jobs });
  const ids = 'ids' in answer ? answer.ids : [];
  const once = key === undefined ? undefined : { key, digest: JSON.stringify(step.jobs) };
  const named = jobs.map((job, index) => ({ ...job, id: ids[index] ?? `unnamed-${index}`, bytes: 7 }));
  return {
    redis: shownAdmission(answer),
    model: (model, nowMs) => shownAdmission(enqueue(model, { tenant, claimPlan, once, jobs: named }, nowMs)),
  };
}

async function sendSettle(sides: Sides, step: Extract<Step, { step: 'settle' }>): Promise<Played> {
  const lease = pick(sides, step.lease, (held) => held.nonce !== null);
  const places = sides.model.leases.get(lease.leaseId)?.jobs.length ?? 1;
  const given = Array.from({ length: Math.max(places, step.results.length) }, (_, index) =>
    resultOf(index + 1, index < step.results.length ? (step.results[index] ?? null) : step.rest),
  ).filter((result) => result !== null);
  // Every third list of results comes in reverse, since nothing promises that jobs finish in order.
  const results = step.lease.number % 3 === 0 ? given.toReversed() : given;
  const answer = await sides.client.settle(lease, results, { claimNext: step.claimNext });
  const visit = answer.outcome === 'continued' ? answer.visit : undefined;
  if (visit) sides.known.push(visit);
  const next = step.claimNext ? { leaseId: lease.leaseId, token: visit?.token ?? '' } : undefined;
  return {
    redis: visit ? shownVisit(sides, visit) : answer,
    model: (model, nowMs) => {
      const settled = settle(model, lease, results, nowMs, next);
      return settled.outcome === 'continued' ? shownLease(settled.lease) : settled;
    },
  };
}

function shownVisit(sides: Sides, visit: Visit): unknown {
  const { leaseId, token, tenant, lanes, jobs } = visit;
  const endsAtMs = visit.expiresAtMs + sides.aheadMs;
  return [leaseId, token, tenant, lanes, visit.visit, endsAtMs, ...jobs.map((job) => [job.index, job.id, job.attempt])];
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
      return [answer.outcome, answer.cap, answer.limit, answer.room];
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
