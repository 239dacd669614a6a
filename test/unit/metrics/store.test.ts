import { expect, test } from 'vitest';
import { completePeriods } from '../../../infra/local/metrics/metric.ts';
import { MetricStore } from '../../../infra/local/metrics/store.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

const datum = (timeMs: number, value = 1, name = 'A') => ({ namespace: 'Rota', name, dimensions: {}, timeMs, value });

test('tells metrics apart by their dimensions, in whatever order', () => {
  const store = new MetricStore(() => undefined);
  store.record({ ...datum(START), dimensions: { queue: 'q', tenant: 't' } });
  store.record({ ...datum(START), dimensions: { tenant: 't', queue: 'q' } });
  store.record({ ...datum(START), dimensions: { queue: 'q' } });
  expect(store.metrics()).toHaveLength(2);
});

test('counts a record where its stamp says, also one that comes late', () => {
  const store = new MetricStore(() => undefined);
  store.record(datum(START + 120_000), datum(START, 5));
  const grid = { startMs: START, endMs: START + 180_000, periodMs: 60_000, stepMs: 60_000 };
  expect(store.query(datum(0), grid).map((window) => window?.get('Sum'))).toEqual([5, undefined, 1]);
});

test('forgets what is more than three hours older than the newest', () => {
  const store = new MetricStore(() => undefined);
  for (let hour = 0; hour <= 100; hour++) store.record(datum(START + hour * HOUR));
  const grid = { startMs: START, endMs: START + 101 * HOUR, periodMs: HOUR, stepMs: HOUR };
  expect(store.query(datum(0), grid).filter(Boolean)).toHaveLength(4);
});

test('takes no metric beyond the 5,000th and says so once', () => {
  const problems: string[] = [];
  const store = new MetricStore((problem) => problems.push(problem));
  for (let i = 0; i < 5_010; i++) store.record(datum(START, 1, `M${i}`));
  store.record(datum(START, 2, 'M0'));
  expect(store.metrics()).toHaveLength(5_000);
  expect(problems).toEqual([expect.stringContaining('M5000')]);
});

test('periods end with the last one complete, a longer one with the last whole minute', () => {
  const now = START + 7 * 60_000 + 30_000;
  expect(completePeriods(now, 60_000, 3)).toMatchObject({ startMs: START + 4 * 60_000, endMs: START + 7 * 60_000 });
  expect(completePeriods(now, 300_000, 1)).toMatchObject({ startMs: START + 2 * 60_000, endMs: START + 7 * 60_000 });
  expect(completePeriods(now, 10_000, 1)).toMatchObject({ endMs: now });
});
