import { describe, expect, it } from 'vitest';
import { metricFields } from '../../../functions/lib/telemetry/emf.ts';
import { eventMetrics, queueMetrics } from '../../../functions/lib/telemetry/metric-names.ts';
import { tenantLabel } from '../../../functions/lib/telemetry/tenant-label.ts';
import { emfRecords } from '../../support/emf.ts';

const record = (...given: Parameters<typeof metricFields>) => emfRecords([JSON.stringify(metricFields(...given))]);

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

describe('a line with metrics', () => {
  it('is a record that CloudWatch takes, of all that has values', () => {
    const [made] = record({ queue: 'q', tenant: 'a' }, [
      [queueMetrics.depth, [3]],
      [queueMetrics.bytes, []],
      [eventMetrics.dispatchLatency, [0.1, 0, 0.1]],
    ]);
    expect(made).toMatchObject({ dimensions: ['queue', 'tenant'], tenant: 'a' });
    expect(made?.values).toEqual({ Depth: [3], DispatchLatency: [0.1, 0, 0.1] });
  });

  it('is no record without values, but still says whose it is', () => {
    expect(metricFields({ queue: 'q' }, [[queueMetrics.depth, []]])).toEqual({ queue: 'q' });
  });

  it('has at most 100 values of a metric, which stand for all', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => (i * 7) % 1_000);
    const [made] = record({ queue: 'q' }, [[eventMetrics.dispatchLatency, values]]);
    const kept = made?.values.DispatchLatency ?? [];
    expect(kept).toHaveLength(100);
    expect([Math.min(...kept), Math.max(...kept)]).toEqual([0, 999]);
    expect(Math.abs(mean(kept) / mean(values) - 1)).toBeLessThan(0.01);
  });
});

describe('the label of a tenant', () => {
  it.each([
    ['acme', 'acme'],
    ['0-a_b.c', '0-a_b.c'],
    ['other', '~b3RoZXI'],
    ['~b3RoZXI', '~fmIzUm9aWEk'],
    ['né:1|*%🐢', '~bsOpOjF8KiXwn5Ci'],
  ])('of %s is %s', (tenant, label) => {
    expect(tenantLabel(tenant)).toBe(label);
  });
});
