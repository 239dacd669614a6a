import { isObject, type JsonObject, textOf } from '../template.ts';
import type { Grid } from './metric.ts';
import { timesOf } from './metric.ts';
import { evaluateQueries, type Query } from './queries.ts';
import type { MetricStore } from './store.ts';

/** A line of a widget, with how it is to be drawn. */
export interface WidgetLine {
  readonly label: string;
  /** What tells it apart among the metrics that a SEARCH found; null when no SEARCH did. */
  readonly of: string | null;
  readonly axis: 'left' | 'right';
  /** Position of the row of the body that it comes from. */
  readonly row: number;
  readonly values: readonly (number | undefined)[];
}

export interface WidgetData {
  /** Start of each point, in ms since the epoch. */
  readonly times: number[];
  readonly lines: WidgetLine[];
}

/** CloudWatch's where a widget names none, in seconds. */
const DEFAULT_PERIOD_SECONDS = 300;

interface Row {
  readonly query: Query;
  readonly visible: boolean;
  readonly axis: 'left' | 'right';
}

/**
 * What a metric widget of a dashboard body shows.
 *
 * @param properties the widget's, resolved.
 * @throws Error that names the widget and what in it is wrong or not known.
 */
export function evaluateWidget(properties: JsonObject, store: MetricStore, window: Omit<Grid, 'periodMs'>): WidgetData {
  try {
    const rows = readRows(properties);
    const periodMs = Number(properties.period ?? DEFAULT_PERIOD_SECONDS) * 1_000;
    const results = evaluateQueries(
      rows.map(({ query }) => query),
      { ...window, periodMs },
      store,
    );
    const lines = rows.flatMap(({ visible, axis }, row) =>
      visible
        ? (results[row] ?? []).map(({ label, of, values }) => ({ label, of: of ?? null, axis, row, values }))
        : [],
    );
    return { times: timesOf({ ...window, periodMs }), lines };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Widget ${JSON.stringify(textOf(properties.title))}: ${reason}`, { cause: error });
  }
}

function readRows(properties: JsonObject): Row[] {
  const { metrics } = properties;
  if (!Array.isArray(metrics)) throw new Error('it has no list of metrics');
  let previous: string[] = [];
  return metrics.map((row: unknown) => {
    if (!Array.isArray(row)) throw new Error(`${JSON.stringify(row)} is no row of metrics`);
    const parts: unknown[] = [...row];
    const last = parts.at(-1);
    const rendering = isObject(last) ? last : {};
    if (isObject(last)) parts.pop();
    if (typeof rendering.expression !== 'string') previous = spelledOut(parts, previous);
    return {
      query: queryOf(rendering, previous, properties),
      visible: rendering.visible !== false,
      axis: rendering.yAxis === 'right' ? 'right' : 'left',
    };
  });
}

function queryOf(rendering: JsonObject, row: readonly string[], properties: JsonObject): Query {
  const common = {
    id: typeof rendering.id === 'string' ? rendering.id : undefined,
    label: typeof rendering.label === 'string' ? rendering.label : undefined,
    periodMs: Number(rendering.period ?? properties.period ?? DEFAULT_PERIOD_SECONDS) * 1_000,
  };
  if (typeof rendering.expression === 'string') return { ...common, expression: rendering.expression };
  const [namespace = '', name = '', ...pairs] = row;
  if (name === '' || pairs.length % 2 !== 0) {
    throw new Error(`row ${JSON.stringify(row)} must be namespace, metric name, then dimension names and values`);
  }
  const dimensions: Record<string, string> = {};
  for (let i = 0; i < pairs.length; i += 2) dimensions[pairs[i] ?? ''] = pairs[i + 1] ?? '';
  const statistic = textOf(rendering.stat ?? properties.stat) || 'Average';
  return { ...common, metric: { namespace, name, dimensions }, statistic };
}

/** `.` stands for what is there in the row before, `...` for as many of its parts as make the rows equally long. */
function spelledOut(parts: readonly unknown[], previous: readonly string[]): string[] {
  const gap = parts.indexOf('...');
  const repeated = previous.slice(gap, previous.length - (parts.length - 1 - gap));
  const whole = gap < 0 ? [...parts] : [...parts.slice(0, gap), ...repeated, ...parts.slice(gap + 1)];
  return whole.map((part, i) => {
    const text = part === '.' ? previous[i] : part;
    if (typeof text !== 'string') throw new Error(`row ${JSON.stringify(parts)}: part ${i + 1} is no text`);
    return text;
  });
}
