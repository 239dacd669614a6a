import * as fc from 'fast-check';
import type { QueueConfig } from '../../functions/lib/config/queue-config.ts';
import type { SubscriptionRecord } from '../../functions/lib/queue/queue-client.ts';
import { testConfig } from './queue-fixture.ts';

/** Odd ids: digits, every delimiter, and two whose order differs between bytes and UTF-16. */
export const TENANTS = ['0', 'a:b{c}|*%', '\u{1F600}', '\uFB01'];

interface StepJob {
  readonly cost: number;
  readonly delayMs: number;
  readonly maxAttempts: number;
}

export interface StepResult {
  readonly result: 'done' | 'failed' | 'dead' | 'given_back' | 'unfinished';
  readonly durationMs: number;
  readonly retryDelayMs: number;
}

/** Which lease is meant: one of those in the state that the step needs, or any that ever was, by a number. */
export interface Pick {
  readonly any: boolean;
  readonly number: number;
}

/** One line of a script for both sides. Plain values, so that a list that fails can be shrunk and printed. */
export type Step =
  | { step: 'enqueue'; tenant: string; jobs: StepJob[]; claimPlan: string | undefined; key: string | undefined }
  | { step: 'claim'; max: number }
  | { step: 'open'; lease: Pick; nonce: string }
  | { step: 'settle'; lease: Pick; results: (StepResult | null)[]; rest: StepResult | null; claimNext: boolean }
  | { step: 'extend' | 'release'; lease: Pick }
  | { step: 'tick' }
  | { step: 'advance'; ms: number }
  | { step: 'wait' }
  | { step: 'subscribe'; tenant: string; record: SubscriptionRecord }
  | { step: 'pause' | 'resume'; tenant: string }
  | { step: 'purge'; tenant: string; scope: 'everything' | 'jobs' }
  | { step: 'redrive' | 'drop'; tenant: string; letter: number | undefined }
  | { step: 'steer'; paused: boolean | undefined; capacity: number | null | undefined }
  | { step: 'configure'; config: Partial<QueueConfig>; old: boolean };

const tenant = fc.constantFrom(...TENANTS);
const weight = fc.oneof(fc.constantFrom(0.1, 1, 3, 8, 50), fc.double({ min: 0.1, max: 50, noNaN: true }));
const cost = fc.oneof(fc.constant(1), fc.constantFrom(0.1, 0.3, 2.5), fc.double({ min: 0.01, max: 9, noNaN: true }));
const job = fc.record({
  cost,
  delayMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constantFrom(1, 900, 5_000, 30_000)),
  maxAttempts: fc.constantFrom(1, 2, 3, 5),
});
const lease = fc.record({
  any: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
  number: fc.nat({ max: 50 }),
});
const result = fc.record({
  result: fc.oneof(
    { weight: 5, arbitrary: fc.constant('done' as const) },
    { weight: 2, arbitrary: fc.constant('given_back' as const) },
    fc.constantFrom('failed' as const, 'dead' as const, 'unfinished' as const),
  ),
  durationMs: fc.oneof(fc.constantFrom(0, 1, 40, 300, 6_000), fc.nat({ max: 8_000 })),
  retryDelayMs: fc.constantFrom(0, 1, 2_000, 30_000),
});
const plan = fc.constantFrom('free', 'growth', 'enterprise');
const cap = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(1, 2, 10, 50) }, fc.constant(0));
const rate = fc.constantFrom(0.05, 0.7, 3, 40);
const orNone = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 1 });
const limits = fc.record({
  weight,
  maxDepth: fc.constantFrom(12, 30, 1_000),
  maxConcurrency: cap,
  maxBytes: orNone(fc.constantFrom(30, 200)),
  maxJobsPerSecond: orNone(rate),
  burst: orNone(fc.constantFrom(1, 3, 20)),
});
const settings = fc.record(
  {
    plans: fc.record({ free: limits, growth: limits, enterprise: limits }),
    capacity: fc.constantFrom(1, 2, 4, 40),
    visitConcurrency: fc.constantFrom(1, 2, 3),
    quantum: fc.constantFrom(1, 2.5, 4),
    unopenedLimit: fc.constantFrom(0, 2, 1_000),
    maxQueueDepth: fc.option(fc.constantFrom(5, 40), { freq: 1 }),
    maxQueueBytes: fc.option(fc.constantFrom(100, 300), { freq: 1 }),
  },
  { requiredKeys: [] },
);

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      step: fc.constant('enqueue' as const),
      tenant,
      jobs: fc.array(job, { minLength: 1, maxLength: 8 }),
      claimPlan: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 9, arbitrary: plan },
        fc.constant('gone'),
      ),
      key: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constantFrom('one', 'two')),
    }),
  },
  { weight: 10, arbitrary: fc.record({ step: fc.constant('claim' as const), max: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 11,
    arbitrary: fc.record({ step: fc.constant('open' as const), lease, nonce: fc.constantFrom('n1', 'n2') }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      step: fc.constant('settle' as const),
      lease,
      results: fc.array(fc.option(result, { freq: 2 }), { maxLength: 5 }),
      rest: fc.option(result, { freq: 3 }),
      claimNext: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('extend' as const), lease }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('release' as const), lease }) },
  { weight: 4, arbitrary: fc.constant({ step: 'tick' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 950, 2_100, 5_000, 20_000, 61_000, 125_000),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ step: 'wait' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('subscribe' as const),
      tenant,
      record: fc.record(
        {
          plan: fc.oneof({ weight: 9, arbitrary: plan }, fc.constant('gone')),
          weight,
          maxDepth: fc.constantFrom(0, 8, 100, 1_000),
          maxConcurrency: cap,
          maxBytes: fc.constantFrom(0, 40, 1_000),
          maxJobsPerSecond: rate,
          burst: fc.constantFrom(1, 2, 30),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.oneof(fc.constant('pause' as const), { weight: 2, arbitrary: fc.constant('resume' as const) }),
      tenant,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('purge' as const),
      tenant,
      scope: fc.constantFrom('everything' as const, 'jobs' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.oneof({ weight: 3, arbitrary: fc.constant('redrive' as const) }, fc.constant('drop' as const)),
      tenant,
      letter: fc.oneof(fc.constant(undefined), fc.nat({ max: 3 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('steer' as const),
      paused: fc.oneof({ weight: 2, arbitrary: fc.constantFrom(false, undefined) }, fc.constant(true)),
      capacity: fc.constantFrom(undefined, null, 1, 3),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('configure' as const),
      config: settings,
      old: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
);

export interface Lockstepped {
  readonly config: QueueConfig;
  readonly steps: readonly (Step | null)[];
}

const newest = { any: false, number: 0 };
const done = { result: 'done' as const, durationMs: 40, retryDelayMs: 0 };
const claimOne: Step = { step: 'claim', max: 1 };
const openIt: Step = { step: 'open', lease: newest, nonce: 'n1' };
const settleIt: Step = { step: 'settle', lease: newest, results: [], rest: done, claimNext: true };
const refused: Step[] = [claimOne, { step: 'release', lease: newest }];

/** What single steps in a random order would seldom bring about, and steps that mean more in company. */
const courses: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 30, arbitrary: steps.map((step) => [step]) },
  { weight: 3, arbitrary: fc.constantFrom(1, 950, 2_100, 5_000, 20_000, 61_000, 125_000).map(later) },
  { weight: 1, arbitrary: fc.constant<Step[]>([claimOne, openIt, ...later(61_000)]) },
  { weight: 1, arbitrary: fc.constant<Step[]>([claimOne, openIt, settleIt, settleIt]) },
  { weight: 1, arbitrary: fc.constant<Step[]>([...refused, ...refused, ...refused]) },
);

function later(ms: number): Step[] {
  return [{ step: 'advance', ms }, { step: 'tick' }];
}

/** Null = nothing: what a course shrinks to, so that a list of a fixed length can lose the steps that do not matter. */
const shrinkable = fc.option(courses, { nil: null, freq: 500 });

/** A queue's settings and the steps on it. */
export const lists = (length: number): fc.Arbitrary<Lockstepped> =>
  fc.record({
    config: settings.map((given) => testConfig({ capacity: 4, deadLetters: 2, unopenedLimit: 3, ...given })),
    steps: fc
      .array(shrinkable, { minLength: length, maxLength: length, size: 'max' })
      .map((list) => list.flatMap((course) => course ?? [null]).slice(0, length)),
  });
