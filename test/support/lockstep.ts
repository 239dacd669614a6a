import type { Redis } from 'ioredis';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import { capacityOf, createModel } from '../../functions/lib/domain/model/state.ts';
import { createQueueClient } from '../../functions/lib/queue/client.ts';
import { queueKeys } from '../../functions/lib/queue/keys.ts';
import { claim } from '../../functions/lib/queue/scripts/claim.ts';
import { configure } from '../../functions/lib/queue/scripts/configure.ts';
import { drop } from '../../functions/lib/queue/scripts/drop.ts';
import { enqueue } from '../../functions/lib/queue/scripts/enqueue.ts';
import { extend } from '../../functions/lib/queue/scripts/extend.ts';
import { open } from '../../functions/lib/queue/scripts/open.ts';
import { pause } from '../../functions/lib/queue/scripts/pause.ts';
import { purge } from '../../functions/lib/queue/scripts/purge.ts';
import { redrive } from '../../functions/lib/queue/scripts/redrive.ts';
import { release } from '../../functions/lib/queue/scripts/release.ts';
import { settle } from '../../functions/lib/queue/scripts/settle.ts';
import { steer } from '../../functions/lib/queue/scripts/steer.ts';
import { subscribe } from '../../functions/lib/queue/scripts/subscribe.ts';
import { tick } from '../../functions/lib/queue/scripts/tick.ts';
import { advance } from './advance.ts';
import { differences } from './compare.ts';
import { violations } from './invariants.ts';
import { type Played, type Sides, send } from './lockstep-send.ts';
import type { Step } from './lockstep-steps.ts';
import { type QueueState, readQueue } from './queue-state.ts';

const SCRIPTS = [
  claim,
  configure,
  drop,
  enqueue,
  extend,
  open,
  pause,
  purge,
  redrive,
  release,
  settle,
  steer,
  subscribe,
  tick,
];

/**
 * A queue in Redis and its model, led through the same steps. What Redis names (jobs, leases, tokens) the model takes
 * over; what Redis decides the model decides again. The server's time of a script lies between two readings around it:
 * where those differ, the model must agree for one of the times between.
 */
export class Lockstep {
  readonly #sides: Sides;
  /** A dispatcher was told that a visit is possible, and it was so ever since. */
  #told = false;
  #clock = { v: 0, epoch: 0 };

  private constructor(redis: Redis, queue: string, config: QueueConfig) {
    const client = createQueueClient({ redis, queue, shard: 0 });
    this.#sides = { redis, queue, client, config, model: createModel(config), aheadMs: 0, known: [] };
  }

  /** Loads the scripts into a server: a first call that must send the source would come after the reading of the state. */
  static async load(redis: Redis): Promise<void> {
    for (const { source } of SCRIPTS) await redis.script('LOAD', source);
  }

  static async start(redis: Redis, queue: string, config: QueueConfig): Promise<Lockstep> {
    const lockstep = new Lockstep(redis, queue, config);
    await lockstep.#sides.client.configure(config);
    return lockstep;
  }

  /** Plays a step on both sides; throws an error that names what differs or is broken. */
  async play(step: Step): Promise<void> {
    if (step.step === 'advance') {
      await advance(this.#sides.redis, this.#sides.queue, step.ms);
      this.#sides.aheadMs += step.ms;
    }
    // All on one connection and without waiting in between, so that Redis runs them in this order; in one write, which
    // halves the time of the test.
    this.#sides.redis.stream.cork();
    const from = this.#sides.redis.time();
    const pending = send(this.#sides, step);
    const to = this.#sides.redis.time();
    const reading = readQueue(this.#sides.redis, this.#sides.queue);
    this.#sides.redis.stream.uncork();
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
    const { prefix } = queueKeys(this.#sides.queue, 0);
    const { keys } = await readQueue(this.#sides.redis, this.#sides.queue);
    if (keys.length > 0) await this.#sides.redis.del(keys.map((key) => prefix + key));
  }

  #follow(played: Played, state: QueueState, fromMs: number, toMs: number): string[] {
    const before = this.#sides.model;
    let wrong = ["the server's clock went back during the step"];
    for (let now = fromMs; now <= toMs; now++) {
      this.#sides.model = now === toMs ? before : structuredClone(before);
      const [redis, modelled] = [played.redis, played.model(this.#sides.model, now + this.#sides.aheadMs)].map(
        (answer) => JSON.stringify(answer),
      );
      wrong = differences(this.#sides.model, state, this.#sides.aheadMs);
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
    const possible = !state.paused && state.rotation.length > 0 && flight < capacityOf(this.#sides.model);
    const woken = step.step === 'wait' && played.redis === 'woken';
    this.#told = possible && (this.#told || woken || step.step === 'claim');
    if (possible && !this.#told && state.wakes === 0) wrong.push('a visit is possible and nobody was told');
    return wrong;
  }
}

function ms(time: readonly (number | string)[]): number {
  return Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000);
}
