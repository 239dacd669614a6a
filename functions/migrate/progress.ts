import type { SourceSurvey } from './survey.ts';

interface Meter {
  readonly done: number;
  /** Absent where nobody knows. */
  readonly left?: number;
  readonly full?: readonly string[];
}

const WIDTH = 30;
const MOST_SHOWN = 20;
const number = (value: number) => Math.round(value).toLocaleString('en');

function bar({ done, left }: Meter): string {
  if (left === undefined || done + left === 0) return '';
  const filled = Math.round((WIDTH * done) / (done + left));
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} `;
}

/** Draws how far a move is, at most every `everyMs`. */
export function drawProgress(print: (line: string) => void, everyMs: number): (meter: Meter) => void {
  const startedMs = performance.now();
  let drawnMs = Number.NEGATIVE_INFINITY;
  return (meter) => {
    const nowMs = performance.now();
    if (nowMs - drawnMs < everyMs) return;
    drawnMs = nowMs;
    const perSecond = (meter.done * 1_000) / Math.max(1, nowMs - startedMs);
    const rest =
      meter.left === undefined
        ? ''
        : `, ${number(meter.left)} left${perSecond > 0 ? `, about ${number(meter.left / perSecond)} s` : ''}`;
    const [first, ...others] = meter.full ?? [];
    const full =
      first === undefined
        ? ''
        : `; waiting for room: ${JSON.stringify(first)}${others.length > 0 ? ` and ${others.length} more` : ''} (raise its maxDepth, or let it drain)`;
    print(`${bar(meter)}${number(meter.done)} done (${number(perSecond)}/s)${rest}${full}`);
  };
}

function table(title: string, counts: ReadonlyMap<string, number>): string[] {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, MOST_SHOWN).map(([name, count]) => `${number(count).padStart(12)}  ${name}`);
  const rest = sorted.slice(MOST_SHOWN).reduce((sum, [, count]) => sum + count, 0);
  const others = rest > 0 ? [`${number(rest).padStart(12)}  (${sorted.length - MOST_SHOWN} others)`] : [];
  return sorted.length === 0 ? [] : [title, ...shown, ...others];
}

/** What a move would do, as a text. */
export function drawSurvey({ elements, tenants, ofOthers, types, reasons }: SourceSurvey): string {
  return [
    `${number(elements)} elements of ${number(tenants.size)} tenants${ofOthers > 0 ? ` and more (${number(ofOthers)} elements)` : ''}; nothing was changed.`,
    ...table('By tenant:', tenants),
    ...table('By job type:', types),
    ...table('Would be rejected:', reasons),
  ].join('\n');
}
