import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profiles, usual, withParts } from '../../../infra/docs/cost/cost.ts';
import { breakEven, handlerTime, metricCount, rotaBill, sqsBill, total } from '../../../infra/docs/cost/model.ts';
import { parseSettings } from '../../../functions/lib/config/parse.ts';

const page = readFileSync('infra/docs/cost.md', 'utf8');
const jobs = (count: number, more = {}) => ({ ...usual, jobs: count, ...more });
const line = (bill: ReturnType<typeof rotaBill>, start: string) => bill.find(([name]) => name.startsWith(start))?.[1];

describe('the model of costs', () => {
  it('is what infra/docs/cost.md shows (npm run docs makes it so)', () => {
    expect(page).toBe(withParts(page));
  });

  it('has the defaults of the settings as its development profile', () => {
    expect(parseSettings({})).toMatchObject(profiles.development);
  });

  it('bills what can be worked out by hand', () => {
    // 2 nodes × 0.1264 × 730 h; 2 zones × 0.01 × 730 h; 0.5 GB × 730 h × 3,600 s × 0.0000133334.
    const bill = rotaBill(jobs(1e6));
    expect(line(bill, 'Cache')).toBeCloseTo(184.544, 3);
    expect(line(bill, 'Endpoint')).toBeCloseTo(14.6, 3);
    expect(line(bill, 'Dispatcher')).toBeCloseTo(17.52, 2);
    expect(line(bill, 'HTTP API')).toBeCloseTo(0.1, 6);
    expect(metricCount()).toBe(20 + 2 + 6 * 21);
    expect(line(bill, '148 custom metrics')).toBeCloseTo(44.4, 6);
    // 1e6 × 0.5 s × 0.5 GB × 0.0000133334.
    expect(handlerTime(jobs(1e6))).toBeCloseTo(3.333, 3);
    expect(line(sqsBill(jobs(1e6)), 'Send')).toBeCloseTo(0.05, 6);
    expect(line(sqsBill(jobs(0, { busy: 0 })), 'Receives of an idle queue')).toBeCloseTo(0.263, 3);
  });

  it('bills a batch larger than a request by its parts', () => {
    const large = { payloadBytes: 262_144, batch: 4 };
    expect(line(rotaBill(jobs(1e6, large)), 'HTTP API')).toBeCloseTo(0.5, 6);
    expect(line(sqsBill(jobs(1e6, large)), 'Send')).toBeCloseTo(2, 6);
  });

  it('finds the volume at which both cost the same', () => {
    const load = jobs(0, { batch: 100 });
    const even = breakEven(load);
    if (even === null) throw new Error('large batches are cheaper by HTTP');
    const both = [rotaBill, sqsBill].map((bill) => total(bill({ ...load, jobs: even })));
    expect(both[0]).toBeCloseTo(both[1] ?? 0, 2);
    expect(breakEven(jobs(0, { batch: 1 }))).toBeNull();
  });
});
