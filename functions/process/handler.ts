import * as z from 'zod/mini';
import { eventHandler } from '../lib/lambda/event.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { workerOf } from '../lib/queue/worker.ts';
import { persist } from './engine/persist.ts';
import { runLease } from './engine/run-lease.ts';
import { jobs } from './jobs/index.ts';

/** Kept for settling what was cut short, and for a Redis that is slow to answer. */
const MARGIN_MS = 10_000;

const { settings, log, openQueue } = coldStart('process', workerOf);
const schema = z.strictObject({ queue: z.literal(settings.queue), leaseId: z.string(), token: z.string() });
const backoff = { baseMs: settings.retry.baseSeconds * 1000, capMs: settings.retry.capSeconds * 1000 };

export const handler = eventHandler({ log, schema }, async ({ leaseId, token }, context) => {
  const deadlineMs = performance.now() + context.getRemainingTimeInMillis() - MARGIN_MS;
  const queue = await persist(openQueue, () => deadlineMs, log);
  await runLease(
    { leaseId, token },
    {
      queue,
      metricsName: settings.metricsName,
      jobs,
      backoff,
      random: Math.random,
      log,
      jobTimeoutMs: settings.jobTimeoutSeconds * 1000,
      deadlineMs,
    },
  );
});
