import type { Grid, MetricId } from './metric.ts';

/** A drawn line: one value for each time of the grid, undefined where there is none. */
export interface Line {
  readonly label: string;
  /** The metric that it is a line of, where it is of one that a SEARCH found. */
  readonly metric?: MetricId;
  /** What tells that metric apart among those that were found with it. */
  readonly of?: string;
  readonly values: readonly (number | undefined)[];
}

export type Lines = readonly Line[];

/** What an expression amounts to: a number, a line, or (SEARCH, METRICS) any number of lines. */
export type Value = number | Line | Lines;

/** What an expression can refer to. */
export interface Scope {
  readonly grid: Grid;
  readonly times: readonly number[];
  /** What has an id, or undefined. */
  resolve(id: string): Value | undefined;
  /** All metrics (no expressions) of the same widget or alarm, those whose id contains the text where one is given. */
  metrics(text: string | undefined): Lines;
  search(terms: string, statistic: string, periodSeconds: number | undefined): Lines;
}

/** The functions that make one value of many. */
export const AGGREGATES: Record<string, (values: number[]) => number> = {
  AVG: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  SUM: (values) => values.reduce((sum, value) => sum + value, 0),
  MIN: (values) => values.reduce((least, value) => Math.min(least, value)),
  MAX: (values) => values.reduce((most, value) => Math.max(most, value)),
};
