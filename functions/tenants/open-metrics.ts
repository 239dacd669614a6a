import {
  metricsOf,
  OTHER,
  queueMetrics,
  READING_TIMESTAMP,
  tenantMetrics,
  type TenantMetric,
} from '../lib/telemetry/metric-names.ts';
import { gaugesOf, type Reading, type TenantTold } from '../lib/telemetry/reading.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';

interface Family {
  readonly openMetrics: string;
  readonly meaning: string;
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | null];
type Told = Reading['other'];

const UNIT = /_(seconds|bytes)(_total)?$/;

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labelled = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/** A family's lines; none where there is no value. */
function family({ openMetrics: name, meaning }: Family, samples: readonly Sample[]): string[] {
  const lines = samples.flatMap(([labels, value]) => (value === null ? [] : [`${name}${labelled(labels)} ${value}`]));
  if (lines.length === 0) return [];
  const bare = name.replace(/_total$/, '');
  const unit = UNIT.exec(name)?.[1];
  return [
    `# HELP ${bare} ${escaped(meaning)}`,
    `# TYPE ${bare} ${bare === name ? 'gauge' : 'counter'}`,
    ...(unit === undefined ? [] : [`# UNIT ${bare} ${unit}`]),
    ...lines,
  ];
}

const valueOf = (told: Told, metric: TenantMetric): number | null =>
  metric === 'served' ? told.served : gaugesOf(told)[metric];

function tenantFamily(metric: TenantMetric, { tenants, other }: Reading): string[] {
  // The plan is told once: joined by tenant, every other family has it too.
  const labels = ({ tenant, plan }: TenantTold): Labels =>
    metric === 'served' ? { tenant: tenantLabel(tenant), plan } : { tenant: tenantLabel(tenant) };
  const samples = tenants.map((told): Sample => [labels(told), valueOf(told, metric)]);
  return family(tenantMetrics[metric], [...samples, [{ tenant: OTHER }, valueOf(other, metric)]]);
}

/** A reading as OpenMetrics text 1.0.0; without one, text that says nothing. */
export function openMetrics(reading: Reading | undefined): string {
  if (reading === undefined) return '# EOF\n';
  const { counts, queue, sweep } = reading;
  const values = { ...queue, ...counts, sweepDifferences: sweep.differences };
  return [
    ...metricsOf(tenantMetrics).flatMap((metric) => tenantFamily(metric, reading)),
    ...metricsOf(queueMetrics).flatMap((metric) => family(queueMetrics[metric], [[{}, values[metric] ?? null]])),
    ...family(READING_TIMESTAMP, [[{}, reading.nowMs / 1000]]),
    '# EOF',
    '',
  ].join('\n');
}
