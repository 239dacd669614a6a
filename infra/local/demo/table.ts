import { styleText } from 'node:util';
import type { Row } from './shares.ts';

export interface TableRow extends Row {
  readonly plan: string;
  /** Seconds from the answer to its enqueue until its last job was done; null while it is not. */
  readonly waitSeconds: number | null;
}

const COLUMNS = ['tenant', 'plan', 'weight', 'depth', 'in flight', 'served', 'realised', 'entitled', 'oldest', 'wait'];
const LEFT_ALIGNED = 2;

/** The live table, a line a tenant under a line of headings. */
export function drawTable(rows: readonly TableRow[], colour: boolean): string {
  const cells = rows.map((row) => [
    row.tenant,
    row.plan,
    String(row.weight),
    row.depth.toLocaleString('en'),
    String(row.inFlight),
    row.done.toLocaleString('en'),
    percent(row.realised),
    percent(row.entitled),
    row.oldestAgeSeconds === null ? '–' : seconds(row.oldestAgeSeconds),
    row.waitSeconds === null ? '–' : seconds(row.waitSeconds),
  ]);
  const widths = COLUMNS.map((heading, i) => Math.max(heading.length, ...cells.map((line) => line[i]?.length ?? 0), 8));
  const line = (texts: readonly string[]) =>
    texts.map((text, i) => (i < LEFT_ALIGNED ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join('  ');
  const heading = line(COLUMNS);
  return [
    colour ? styleText('dim', heading) : heading,
    ...cells.map((texts, i) => {
      const done = rows[i]?.waitSeconds !== null;
      return colour && done ? styleText('green', line(texts)) : line(texts);
    }),
  ].join('\n');
}

/** One line for output that cannot be redrawn. */
export function plainLine(rows: readonly TableRow[], elapsedSeconds: number): string {
  const parts = rows.map(
    (row) =>
      `${row.tenant} depth=${row.depth} inFlight=${row.inFlight} served=${row.done} realised=${percent(row.realised)} entitled=${percent(row.entitled)}`,
  );
  return `${elapsedSeconds.toFixed(0).padStart(4)}s  ${parts.join('  ')}`;
}

export function seconds(value: number): string {
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${value.toFixed(0)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

function percent(part: number | null): string {
  return part === null ? '–' : `${(100 * part).toFixed(1)} %`;
}
