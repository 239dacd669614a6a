import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { LambdaMetric, OnLambdaMetric } from './metrics/service-metrics.ts';
import type { Pool } from './pool.ts';

export interface EventQueueOptions {
  /** An event older than this is dropped. */
  maximumAgeMs: number;
  /** How often an event is tried again whose function failed. Being throttled is not a failure. */
  maximumRetries: number;
  /** Told about every failed and every dropped event. */
  onProblem: (line: string) => void;
  onMetric: OnLambdaMetric;
}

const FIRST_THROTTLE_RETRY_MS = 1_000;
const LAST_THROTTLE_RETRY_MS = 300_000;
const FAILURE_RETRY_MS = 60_000;

/**
 * Lambda's queue of Event invocations of one function: accepts everything, tries throttled events again from 1 s apart
 * (doubling, at most 5 min) until they are too old, failed ones after 1 min and 2 min, and may deliver an event twice.
 */
export class EventQueue {
  readonly #pool: Pool;
  readonly #options: EventQueueOptions;
  readonly #stop = new AbortController();
  #duplicates = 0;
  #pending = 0;

  constructor(pool: Pool, options: EventQueueOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Events accepted and neither done nor dropped. */
  get pending(): number {
    return this.#pending;
  }

  /** Has each of the next `count` events delivered twice, as Lambda now and then does. */
  deliverTwice(count: number): void {
    this.#duplicates += count;
  }

  /** Takes an event; returns its request id. */
  accept(payload: string): string {
    const requestId = randomUUID();
    this.#count('AsyncEventsReceived', 1);
    void this.#deliver(requestId, payload);
    if (this.#duplicates > 0) {
      this.#duplicates--;
      void this.#deliver(requestId, payload);
    }
    return requestId;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #deliver(requestId: string, payload: string): Promise<void> {
    const acceptedAt = performance.now();
    const { maximumAgeMs, maximumRetries, onProblem } = this.#options;
    const { name } = this.#pool.spec;
    let failures = 0;
    let throttleMs = FIRST_THROTTLE_RETRY_MS;
    this.#pending++;
    try {
      while (!this.#stop.signal.aborted) {
        const ageMs = performance.now() - acceptedAt;
        this.#count('AsyncEventAge', ageMs);
        this.#count('AsyncEventsDropped', Number(ageMs > maximumAgeMs));
        if (ageMs > maximumAgeMs) {
          onProblem(`${name}: event ${requestId} dropped, older than ${maximumAgeMs / 1_000} s`);
          return;
        }
        const answer = await this.#pool.invoke({ requestId, payload });
        if (!answer) {
          await this.#pause(throttleMs);
          throttleMs = Math.min(throttleMs * 2, LAST_THROTTLE_RETRY_MS);
          continue;
        }
        const { result } = answer;
        if (!result.functionError) return;
        failures++;
        onProblem(`${name}: event ${requestId} failed: ${result.payload}`);
        if (failures > maximumRetries) {
          this.#count('AsyncEventsDropped', 1);
          return;
        }
        await this.#pause(failures * FAILURE_RETRY_MS);
      }
    } finally {
      this.#pending--;
    }
  }

  #count(metric: LambdaMetric, value: number): void {
    this.#options.onMetric(this.#pool.spec.name, metric, value);
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}
