import { evaluateMath } from './math.ts';
import type { Line, Lines, Scope, Value } from './math-values.ts';
import { type Grid, type MetricId, timesOf } from './metric.ts';
import { searchMetrics } from './search.ts';
import { checkStatistic } from './statistics.ts';
import type { MetricStore } from './store.ts';

interface Common {
  /** How expressions name it. */
  readonly id: string | undefined;
  /** How it is called where it is drawn; undefined for what CloudWatch would call it. */
  readonly label: string | undefined;
}

interface MetricQuery extends Common {
  readonly metric: MetricId;
  readonly statistic: string;
  readonly periodMs: number;
}

interface ExpressionQuery extends Common {
  readonly expression: string;
  readonly periodMs: number;
}

/** What a row of a widget or an item of an alarm's `Metrics` asks for. */
export type Query = MetricQuery | ExpressionQuery;

/**
 * Evaluates queries that may refer to each other by id.
 *
 * @param grid start, end and step; each query has its own period.
 * @returns the lines of each query: one of a metric, any number of an expression.
 * @throws Error naming the expression and what is wrong with it; SEARCH finding nothing is no fault, an unknown id is.
 */
export function evaluateQueries(queries: readonly Query[], grid: Grid, store: MetricStore): Lines[] {
  return new Evaluation(queries, grid, store).run();
}

class Evaluation {
  readonly #queries: readonly Query[];
  readonly #grid: Grid;
  readonly #store: MetricStore;
  readonly #times: number[];
  readonly #done = new Map<Query, Value>();
  readonly #open = new Set<Query>();

  constructor(queries: readonly Query[], grid: Grid, store: MetricStore) {
    this.#queries = queries;
    this.#grid = grid;
    this.#store = store;
    this.#times = timesOf(grid);
  }

  run(): Lines[] {
    return this.#queries.map((query) => {
      const value = this.#value(query);
      if (typeof value === 'number') return [{ label: query.label ?? '', values: this.#times.map(() => value) }];
      return 'expression' in query ? named(query, value) : [value].flat();
    });
  }

  #value(query: Query): Value {
    const known = this.#done.get(query);
    if (known !== undefined) return known;
    if (this.#open.has(query)) throw new Error(`Expression ${query.id} refers to itself`);
    this.#open.add(query);
    const value = 'expression' in query ? evaluateMath(query.expression, this.#scope(query)) : this.#line(query);
    this.#open.delete(query);
    this.#done.set(query, value);
    return value;
  }

  #line({ metric, statistic, periodMs, label }: MetricQuery): Line {
    checkStatistic(statistic);
    const statistics = this.#store.query(metric, { ...this.#grid, periodMs });
    const own = Object.values(metric.dimensions).at(-1) ?? '';
    return {
      label: label === undefined ? `${metric.name} ${own}`.trim() : dynamicLabel(label, metric, metric.name),
      values: statistics.map((window) => window?.get(statistic)),
    };
  }

  #scope({ periodMs }: ExpressionQuery): Scope {
    return {
      grid: { ...this.#grid, periodMs },
      times: this.#times,
      resolve: (id) => {
        const query = this.#queries.find((candidate) => candidate.id === id);
        return query && this.#value(query);
      },
      metrics: (text) =>
        this.#queries
          .filter((query) => 'metric' in query && (text === undefined || query.id?.includes(text)))
          .flatMap((query) => {
            const value = this.#value(query);
            return typeof value === 'number' ? [] : [value].flat();
          }),
      search: (terms, statistic, periodSeconds) => {
        const found = searchMetrics(terms, this.#store.metrics());
        const period = periodSeconds === undefined ? periodMs : periodSeconds * 1_000;
        return found.map((metric) => {
          const of = distinction(metric, found);
          return {
            ...this.#line({ id: undefined, label: undefined, metric, statistic, periodMs: period }),
            label: of,
            metric,
            of,
          };
        });
      },
    };
  }
}

/** What tells a metric apart among those that were found: the values of the dimensions in which they differ. */
function distinction({ name, dimensions }: MetricId, found: readonly MetricId[]): string {
  const differing = Object.keys(dimensions).filter((key) =>
    found.some((other) => other.dimensions[key] !== dimensions[key]),
  );
  if (differing.length > 0) return differing.map((key) => dimensions[key]).join(' ');
  return Object.values(dimensions).at(-1) ?? name;
}

/** Lines of an expression under its label; of several, each keeps its own beside it. */
function named({ label, expression }: ExpressionQuery, value: Line | Lines): Lines {
  const lines = [value].flat();
  return lines.map((line) => {
    if (label === undefined) return { ...line, label: line.label || expression };
    if (label.includes('${')) return { ...line, label: dynamicLabel(label, line.metric, line.label) };
    return { ...line, label: isList(value) ? `${label} ${line.label}`.trim() : label };
  });
}

function isList(value: Line | Lines): value is Lines {
  return Array.isArray(value);
}

/** CloudWatch's dynamic labels, as far as they are known here. @throws Error naming one that is not */
function dynamicLabel(label: string, metric: MetricId | undefined, own: string): string {
  return label.replaceAll(/\$\{([^}]*)\}/g, (_, inner: string) => {
    if (inner === 'LABEL') return own;
    const [, property, dimension] = /^PROP\('(?:(MetricName|Namespace)|Dim\.([^']+))'\)$/.exec(inner) ?? [];
    if (dimension !== undefined) return metric?.dimensions[dimension] ?? '';
    if (property === 'MetricName') return metric?.name ?? '';
    if (property === 'Namespace') return metric?.namespace ?? '';
    throw new Error(
      `Label ${JSON.stringify(label)}: known are \${LABEL}, \${PROP('MetricName')}, \${PROP('Dim.<name>')}`,
    );
  });
}
