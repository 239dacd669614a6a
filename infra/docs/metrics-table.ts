import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  eventMetrics,
  queueMetrics,
  READING_TIMESTAMP,
  type Stated,
  tenantMetrics,
} from '../../functions/lib/telemetry/metric-names.ts';

const PAGE = join(import.meta.dirname, 'metrics.md');

const code = (name: string | undefined) => (name === undefined ? '' : `\`${name}\``);

/** A Markdown table with columns of even width. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], pad = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, pad)).join(' | ')} |`;
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.slice(1).map((row) => line(row)),
  ].join('\n');
}

const rowsOf = (metrics: Readonly<Record<string, Stated>>) =>
  Object.values(metrics).map(({ name, openMetrics, unit, meaning }) => [
    code(name),
    code(openMetrics),
    unit === 'None' ? 'part of 1' : unit,
    meaning,
  ]);

const HEAD = ['CloudWatch', '`GET /v1/metrics`', 'unit', 'meaning'];

/** What stands between the marks of the page, by their name. */
const tables: Readonly<Record<string, string>> = {
  queue: table([
    HEAD,
    ...rowsOf(queueMetrics),
    ['', code(READING_TIMESTAMP.openMetrics), 'Seconds', READING_TIMESTAMP.meaning],
  ]),
  tenants: table([HEAD, ...rowsOf(tenantMetrics)]),
  events: table([HEAD, ...rowsOf(eventMetrics)]),
};

/** The page with the tables between its marks made anew. @throws Error when a mark is missing */
export function withMetrics(page: string): string {
  return Object.entries(tables).reduce((text, [name, made]) => {
    const [before, rest] = text.split(`<!-- ${name} -->`);
    const after = rest?.split(`<!-- /${name} -->`)[1];
    if (before === undefined || after === undefined) throw new Error(`metrics.md has no marks of ${name}`);
    return `${before}<!-- ${name} -->\n\n${made}\n\n<!-- /${name} -->${after}`;
  }, page);
}

if (import.meta.main) writeFileSync(PAGE, withMetrics(readFileSync(PAGE, 'utf8')));
