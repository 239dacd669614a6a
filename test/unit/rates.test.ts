import { expect, test } from 'vitest';
import { subscribe, tick } from '../../functions/lib/domain/model/upkeep.ts';
import { ModelQueue } from '../support/model-queue.ts';

const TENANTS = 200;
const PER_SECOND = 10;
const SECONDS = 60;
const STEP_MS = 100;
const JOBS = Array.from({ length: PER_SECOND * (SECONDS + 5) }, () => 1);

test(`${TENANTS} tenants at ${PER_SECOND} jobs/s each hold their rates within 5 % beside a flood, which is not slowed`, {
  timeout: 300_000,
}, () => {
  const queue = new ModelQueue({ capacity: 5_000, quantum: 10, maxVisitMs: 600_000 });
  const names = Array.from({ length: TENANTS }, (_, index) => `t${index}`);
  for (const name of names) {
    subscribe(queue.model, name, { maxJobsPerSecond: PER_SECOND, burst: PER_SECOND }, queue.nowMs);
    queue.enqueue(name, JOBS);
  }
  const served = new Map<string, number>();
  const step = (count: boolean) => {
    queue.enqueue(
      'flood',
      Array.from({ length: 100 }, () => 1),
    );
    tick(queue.model, queue.nowMs);
    for (let visits = queue.claim(8); visits.length > 0; visits = queue.claim(8)) {
      for (const visit of visits) {
        if (count) served.set(visit.tenant, (served.get(visit.tenant) ?? 0) + visit.jobs.length);
        queue.end(visit, { durationMs: 1 });
      }
    }
    queue.nowMs += STEP_MS;
  };
  // The bursts first, and the visits of one job that a tenant of unknown duration gets.
  for (let ms = 0; ms < 2_000; ms += STEP_MS) step(false);
  for (let ms = 0; ms < SECONDS * 1_000; ms += STEP_MS) step(true);
  const rates = names.map((name) => (served.get(name) ?? 0) / SECONDS);
  expect(rates.filter((rate) => Math.abs(rate / PER_SECOND - 1) > 0.05)).toEqual([]);
  // All that it brought.
  expect((served.get('flood') ?? 0) / SECONDS).toBe(1_000);
});
