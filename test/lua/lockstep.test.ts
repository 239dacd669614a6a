import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { Lockstep } from '../support/lockstep.ts';
import { lists, type Lockstepped } from '../support/lockstep-steps.ts';

const LISTS = 1_000;
/** Ends a search for a shorter list while there is time left to print it. */
const interruptAfterTimeLimit = 100_000;
const STEPS = 60;

describe('the scripts and the model in lockstep', () => {
  let server: RunningRedis;
  let redis: Redis;
  beforeAll(async () => {
    // Its own server: the whole keyspace is read after each of 60,000 steps.
    server = await startRedis({ cluster: false });
    redis = new Redis(server.url);
    await Lockstep.load(redis);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  test(`agree after every one of ${STEPS} steps in ${LISTS} random lists`, async () => {
    let played = 0;
    await fc.assert(
      fc.asyncProperty(lists(STEPS), async ({ config, steps }) => {
        played += 1;
        const lockstep = await Lockstep.start(redis, `lockstep-${played}`, config);
        try {
          for (const step of steps) if (step) await lockstep.play(step);
        } finally {
          await lockstep.end();
        }
      }),
      { numRuns: LISTS, ...seedGiven(), reporter: report, interruptAfterTimeLimit, markInterruptAsFailure: true },
    );
  });
});

/** Fails the test with what differs, the seed, and the shortest list that was found to show it. */
function report(run: fc.RunDetails<[Lockstepped]>): void {
  if (!run.failed) return;
  const [list] = run.counterexample ?? [];
  const steps = list?.steps.filter((step) => step !== null) ?? [];
  throw new Error(
    [
      run.errorInstance instanceof Error ? run.errorInstance.message : String(run.errorInstance),
      `LOCKSTEP_SEED=${run.seed} shows it again (list ${run.numRuns}). The shortest list found:`,
      ...[list?.config, ...steps].map((line) => JSON.stringify(line)),
    ].join('\n'),
  );
}

/** `LOCKSTEP_SEED=…` plays a failure's lists again. */
function seedGiven(): { seed?: number } {
  const { LOCKSTEP_SEED } = process.env;
  return LOCKSTEP_SEED === undefined ? {} : { seed: Number(LOCKSTEP_SEED) };
}
