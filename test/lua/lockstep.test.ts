import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningRedis, startRedis } from '../../infra/local/redis-server.ts';
import { Lockstep } from '../support/lockstep.ts';
import { type Lockstepped, lists } from '../support/lockstep-steps.ts';

const LISTS = 1_000;
const STEPS = 60;
/** Runs side by side: one compares while Redis works for the other. */
const RUNS = [1, 2];
const TIMEOUT_MS = 1_200_000;
/** Ends the search for a shorter list while there is time left to print what was found. */
const SEARCH_MS = 1_100_000;

describe('the scripts and the model in lockstep', () => {
  let server: RunningRedis;
  beforeAll(async () => {
    // Its own server: the whole keyspace is read after each of 60,000 steps.
    server = await startRedis({ cluster: false });
  });
  afterAll(() => server.stop());

  test.concurrent.each(RUNS)(
    `agree after every one of ${STEPS} steps in ${LISTS / RUNS.length} random lists (run %i)`,
    { timeout: TIMEOUT_MS },
    async (run) => {
      const redis = new Redis(server.url);
      await Lockstep.load(redis);
      let played = 0;
      const property = fc.asyncProperty(lists(STEPS), async ({ config, steps }) => {
        played += 1;
        const lockstep = await Lockstep.start(redis, `run-${run}-${played}`, config);
        try {
          for (const step of steps) if (step) await lockstep.play(step);
        } finally {
          await lockstep.end();
        }
      });
      const details = await fc.check(property, {
        numRuns: LISTS / RUNS.length,
        interruptAfterTimeLimit: SEARCH_MS,
        markInterruptAsFailure: true,
        ...seedGiven(),
      });
      redis.disconnect();
      expect(details.failed ? shortest(details) : 'agreed').toBe('agreed');
    },
  );
});

/** What differs, the seed, and the shortest list that was found to show it. */
function shortest({ counterexample, errorInstance, numRuns, seed }: fc.RunDetails<[Lockstepped]>): string {
  if (counterexample === null) return `only ${numRuns} lists in ${SEARCH_MS} ms`;
  const [{ config, steps }] = counterexample;
  return [
    errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
    `LOCKSTEP_SEED=${seed} shows it again, in list ${numRuns}. The shortest list found:`,
    ...[config, ...steps.filter((step) => step !== null)].map((line) => JSON.stringify(line)),
  ].join('\n');
}

/** `LOCKSTEP_SEED=…` plays a failure's lists again. */
function seedGiven(): { seed?: number } {
  const { LOCKSTEP_SEED } = process.env;
  return LOCKSTEP_SEED === undefined ? {} : { seed: Number(LOCKSTEP_SEED) };
}
