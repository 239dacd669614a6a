import type { SweepDifference, Survey, TenantReading } from '../lib/domain/outcomes.ts';
import type { Watcher } from '../lib/queue/watcher.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { parseReading, type Reading } from '../lib/telemetry/reading.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';
import { nextReading } from './next-reading.ts';

/** Tenants of a slice: one to two milliseconds of the server's time. */
const SURVEY_SLICE = 250;
const SWEEP_SLICE = 100;
/** A run's part of a pass: at this pace 100,000 tenants are swept in 20 minutes, 10,000 in two. */
const MOST_SWEPT = 5_000;
const MOST_SCANS = 50;

const slices = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

interface Swept {
  /** Where to go on next time. */
  readonly cursor: string;
  /** What this watcher has found and put right. */
  readonly differences: readonly SweepDifference[];
  /** How many all watchers have so far; undefined when there was nothing to sweep. */
  readonly repaired: number | undefined;
}

/** Goes on with the sweep for a while. */
async function sweepOn(queue: Watcher, from: string): Promise<Swept> {
  const differences: SweepDifference[] = [];
  let repaired: number | undefined;
  const sweep = async (names: readonly string[], totals: boolean) => {
    const swept = await queue.sweep(names, totals);
    differences.push(...swept.differences);
    repaired = swept.repaired;
  };
  let cursor = from;
  let swept = 0;
  for (let scans = 0; scans < MOST_SCANS && swept < MOST_SWEPT; scans++) {
    const page = await queue.tenantNames(cursor);
    for (const names of slices(page.names, SWEEP_SLICE)) await sweep(names, false);
    swept += page.names.length;
    cursor = page.cursor;
    if (cursor !== '0') continue;
    await sweep([], true);
    break;
  }
  return { cursor, differences, repaired };
}

/** Reads every tenant with waiting jobs, in slices, and those named. */
async function survey(queue: Watcher, named: readonly string[]): Promise<{ queue: Survey; tenants: TenantReading[] }> {
  const found = new Map<string, TenantReading>();
  let slice = await queue.survey('0', SURVEY_SLICE, named);
  for (;;) {
    for (const reading of slice.tenants) found.set(reading.tenant, reading);
    if (slice.cursor === '0') return { queue: slice, tenants: [...found.values()] };
    slice = await queue.survey(slice.cursor, SURVEY_SLICE);
  }
}

/**
 * Looks at the queue, sweeps a part of it, and keeps the reading for the next look. Undefined when another watcher was
 * faster: what happened since the reading before is then in its metrics, or in those of the next.
 */
export async function watch(queue: Watcher, log: Log): Promise<Reading | undefined> {
  const last = await queue.lastReading();
  const before = parseReading(last.reading);
  const swept = await sweepOn(queue, before?.sweep.cursor ?? '0');
  for (const { tenant, counter, kept, counted } of swept.differences) {
    log.error('counter put right', { ...(tenant !== null && { tenant: tenantLabel(tenant) }), counter, kept, counted });
  }
  const surveyed = await survey(queue, before?.tenants.map(({ tenant }) => tenant) ?? []);
  // Last, so that what is told of all is no less than what was told of some.
  const stats = await queue.stats();
  const sweep = { cursor: swept.cursor, repaired: swept.repaired ?? before?.sweep.differences ?? 0 };
  const reading = nextReading({ ...surveyed, stats, sweep }, before);
  const kept = await queue.keepReading(last.number, JSON.stringify(reading));
  if (kept === 'kept') return reading;
  log.warn('overtaken by another watcher');
  return undefined;
}
