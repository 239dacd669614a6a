import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { JobResult, VisitJob } from '../../../functions/lib/domain/outcomes.ts';
import { startJob } from '../../../functions/process/engine/run-job.ts';
import type { JobModule } from '../../../functions/process/jobs/index.ts';
import { jobs as registry } from '../../../functions/process/jobs/index.ts';
import { defineJob, type JobHandler, PermanentFailure, RetryAfter } from '../../../functions/process/jobs/job.ts';
import { keptLog } from '../../support/log.ts';

const visitJob = (given: Partial<VisitJob> = {}): VisitJob => ({
  index: 3,
  id: '0-1',
  type: 'test',
  payload: '{"n":1}',
  attempt: 2,
  maxAttempts: 5,
  timeoutSeconds: 0,
  enqueuedAtMs: 0,
  readySinceMs: 0,
  ...given,
});

const moduleOf =
  (handler: JobHandler<unknown>, schema: z.ZodMiniType = z.unknown()): JobModule =>
  async () => ({ default: defineJob(schema, handler) });

function start(jobs: Record<string, JobModule>, job = visitJob(), timeoutMs = 60_000) {
  const backoff = { baseMs: 1_000, capMs: 8_000 };
  return startJob('acme', job, timeoutMs, { jobs, backoff, random: () => 0.5, log: keptLog().log });
}

const run = (handler: JobHandler<unknown>, job?: VisitJob): Promise<JobResult> =>
  start({ test: moduleOf(handler) }, job).result;

describe('a job', () => {
  it('is done when its handler resolves, and was given what was enqueued', async () => {
    const given: unknown[] = [];
    const result = await run(async (job, { remainingMs }) => {
      given.push(job, remainingMs());
    });
    expect(result).toEqual({ index: 3, result: 'done', durationMs: expect.any(Number) });
    expect(given).toEqual([
      { id: '0-1', tenant: 'acme', type: 'test', payload: { n: 1 }, attempt: 2 },
      expect.closeTo(60_000, -3),
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an error', new TypeError('no'), 'TypeError: no'],
    ['text', 'no', 'thrown string: no'],
    ['nothing', undefined, 'thrown undefined: undefined'],
    ['what cannot be shown', Object.create(null), 'something that cannot be shown was thrown'],
    ['half a character', new Error('\ud800'), 'Error: \ufffd'],
    ['too much', new Error('x'.repeat(5_000)), `Error: ${'x'.repeat(993)}…`],
  ])('has failed when its handler throws %s', async (_name, thrown, error) => {
    const result = await run(async () => {
      throw thrown;
    });
    // Second attempt: half of twice the base.
    expect(result).toEqual({ index: 3, result: 'failed', durationMs: expect.any(Number), retryDelayMs: 1_000, error });
  });

  it('of a type that does not load has failed, and the log says why, since all of that type do', async () => {
    const { log, lines } = keptLog();
    const jobs = { test: () => Promise.reject(new Error('no such key')) };
    const backoff = { baseMs: 1_000, capMs: 8_000 };
    const { result } = startJob('acme', visitJob(), 60_000, { jobs, backoff, random: () => 0.5, log });
    expect(await result).toMatchObject({ result: 'failed', error: 'Error: no such key' });
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'job type does not load',
        fields: { jobType: 'test', jobId: '0-1', reason: 'Error: no such key' },
      },
    ]);
  });

  it('is dead when its handler says that nothing can mend it', async () => {
    const result = await run(async () => {
      throw new PermanentFailure('no such invoice');
    });
    expect(result).toMatchObject({ result: 'dead', error: 'PermanentFailure: no such invoice' });
  });

  it('runs again when its handler says, whatever the backoff would be', async () => {
    const result = await run(async () => {
      throw new RetryAfter(90.0004, 'rate limited');
    });
    expect(result).toMatchObject({ result: 'failed', retryDelayMs: 90_001, error: 'RetryAfter: rate limited' });
    for (const seconds of [-1, Number.NaN, Number.POSITIVE_INFINITY, 30 * 86_400 + 1]) {
      expect(() => new RetryAfter(seconds)).toThrow('expected seconds from 0 to 2592000');
    }
  });

  it('is dead when its payload is not one of its type, and its error quotes nothing of it', async () => {
    const schema = z.strictObject({ n: z.string() });
    const wrong = { test: moduleOf(async () => {}, schema) };
    const result = await start(wrong, visitJob({ payload: '{"n":{"secret":1}}' })).result;
    expect(result).toMatchObject({ result: 'dead', error: expect.stringContaining('payload.n') });
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(await start(wrong, visitJob({ payload: 'secret' })).result).toMatchObject({
      result: 'dead',
      error: 'PermanentFailure: The payload is not JSON.',
    });
  });

  it.each(['ecoh', '__proto__', 'constructor', 'toString'])('of the unknown type %s is dead', async (type) => {
    expect(await start(registry, visitJob({ type })).result).toMatchObject({ result: 'dead' });
  });

  it('has failed when its time is up, whether its handler heeds the signal or not', async () => {
    const heeding = moduleOf(async (_job, { signal }) => {
      await once(signal, 'abort');
      throw signal.reason;
    });
    const deaf = moduleOf(() => new Promise(() => {}));
    for (const handler of [heeding, deaf]) {
      const result = await start({ test: handler }, visitJob(), 20).result;
      expect(result).toMatchObject({ result: 'failed', error: 'JobTimeout: not done in 20 ms' });
    }
  });

  it('that is cut is unfinished, whatever its handler makes of the abort', async () => {
    const begun = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    const running = start({
      test: moduleOf(async (_job, { signal }) => {
        begun.resolve();
        await once(signal, 'abort');
        aborted.resolve(signal.reason);
        throw new PermanentFailure('because of the abort');
      }),
    });
    await begun.promise;
    running.cut(new Error('time is up'));
    expect(await running.result).toMatchObject({ result: 'unfinished', error: 'Error: time is up' });
    expect(await aborted.promise).toEqual(new Error('time is up'));
  });

  it('that is cut while its type is loaded does not begin', async () => {
    const loading = Promise.withResolvers<Awaited<ReturnType<JobModule>>>();
    const begun: string[] = [];
    const running = start({ test: () => loading.promise });
    running.cut(new Error('time is up'));
    loading.resolve(await moduleOf(async ({ id }) => void begun.push(id))());
    expect(await running.result).toMatchObject({ result: 'unfinished' });
    await setImmediate();
    expect(begun).toEqual([]);
  });
});

const shipped = (type: string, payload: unknown, attempt = 1) =>
  start(registry, visitJob({ type, payload: JSON.stringify(payload), attempt })).result;

describe('the shipped job types', () => {
  it('are in the registry, each with a handler', async () => {
    expect(Object.keys(registry)).toEqual(['echo', 'sleep', 'fail', 'webhook']);
  });

  it('echo: succeeds with any payload', async () => {
    for (const payload of [null, [], {}, 'x', 0])
      expect(await shipped('echo', payload)).toMatchObject({ result: 'done' });
  });

  it('sleep: takes the time it is told', async () => {
    const result = await shipped('sleep', { ms: 30 });
    expect(result).toMatchObject({ result: 'done' });
    expect(Reflect.get(result, 'durationMs')).toBeGreaterThanOrEqual(29);
    expect(await shipped('sleep', { ms: -1 })).toMatchObject({ result: 'dead' });
  });

  it('fail: fails as often as it is told', async () => {
    const results = await Promise.all([1, 2, 3].map((attempt) => shipped('fail', { times: 2 }, attempt)));
    expect(results.map(({ result }) => result)).toEqual(['failed', 'failed', 'done']);
  });
});
