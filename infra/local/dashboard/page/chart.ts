import uPlot from 'uplot';
import type { LineView, WidgetView } from '../view.ts';
import { h, setText } from './dom.ts';
import { clock, number, percent } from './format.ts';
import { rest, type Tone, toneAt, type Tones } from './palette.ts';
import { currentTheme, onTheme, type Theme } from './theme.ts';

type ChartView = Extract<WidgetView, { kind: 'chart' }>;

interface Entry {
  readonly tone: Tone;
  readonly value: HTMLElement;
}

/** One chart with its legend. The legend shows the newest values, or those under the pointer. */
export class Chart {
  readonly element: HTMLElement;
  readonly #plot = h('div', { class: 'plot' });
  readonly #legend = h('ul', { class: 'legend' });
  readonly #empty = h('p', { class: 'empty' });
  readonly #tones: Tones;
  #uplot: uPlot | undefined;
  #view: ChartView | undefined;
  #times: readonly number[] = [];
  #shape = '';
  #entries: Entry[] = [];

  constructor(tones: Tones) {
    this.#tones = tones;
    this.element = h('div', { class: 'chart' }, this.#plot, this.#legend);
    this.#plot.append(this.#empty);
    new ResizeObserver(() => this.#fit()).observe(this.#plot);
    onTheme(() => this.#rebuild());
  }

  update(view: ChartView, times: readonly number[], emptyText: string): void {
    this.#view = view;
    this.#times = times;
    const nothing = view.lines.every(({ values }) => values.every((value) => value === null));
    setText(this.#empty, nothing ? emptyText : '');
    this.#plot.classList.toggle('nothing', nothing);
    const shape = JSON.stringify(view.lines.map(({ label, tenant, axis, row }) => [label, tenant, axis, row]));
    if (shape !== this.#shape || !this.#uplot) {
      this.#shape = shape;
      this.#rebuild();
    } else {
      this.#uplot.setData(dataOf(view, times));
    }
    this.#showValues(null);
  }

  #rebuild(): void {
    const view = this.#view;
    if (!view) return;
    this.#uplot?.destroy();
    const theme = currentTheme();
    this.#entries = view.lines.map((line, i) => ({
      tone: toneOf(line, i, this.#tones),
      value: h('span', { class: 'value' }),
    }));
    this.#legend.replaceChildren(
      ...view.lines.map((line, i) => {
        const swatch = h('i', { class: isDashed(line, view.lines) ? 'swatch dashed' : 'swatch' });
        swatch.style.color = this.#entries[i]?.tone[theme.name] ?? '';
        return h(
          'li',
          { title: line.label },
          swatch,
          h('span', { class: 'name' }, line.label),
          this.#entries[i]?.value ?? '',
        );
      }),
    );
    this.#uplot = new uPlot(this.#options(view, theme), dataOf(view, this.#times), this.#plot);
    this.#fit();
    this.#showValues(null);
  }

  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.#plot;
    if (this.#uplot && width > 0 && height > 0) this.#uplot.setSize({ width, height });
  }

  #showValues(at: number | null): void {
    const words = this.#view && isParts(this.#view) ? (value?: number | null) => percent(value ?? null) : number;
    for (const [i, { value }] of this.#entries.entries()) {
      const values = this.#view?.lines[i]?.values ?? [];
      setText(value, words(at === null ? values.findLast((point) => point !== null) : values[at]));
    }
  }

  #options(view: ChartView, theme: Theme): uPlot.Options {
    const right = view.lines.some(({ axis }) => axis === 'right');
    const values = (_u: uPlot, splits: number[]) =>
      splits.map(isParts(view) ? (part) => `${number(part * 100)} %` : number);
    const font = `11px ${theme.font}`;
    const axis = { stroke: theme.quiet, font, ticks: { show: false }, gap: 6 };
    return {
      width: 100,
      height: 100,
      legend: { show: false },
      padding: [10, right ? 0 : 10, 0, 0],
      cursor: { points: { size: 6 }, drag: { x: false, y: false }, y: false },
      scales: {
        x: { time: true },
        y: { range: rangeOf(view) },
        right: { range: (_u, low, high) => [Math.min(0, low ?? 0), (high ?? 0) * 1.1 || 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          space: 70,
          incrs: [60, 120, 300, 600, 1_800, 3_600],
          values: (_u, splits) => splits.map((s) => clock(s * 1_000)),
        },
        { ...axis, scale: 'y', size: 46, space: 34, grid: { stroke: theme.line, width: 1 }, values },
        // oxlint-disable-next-line no-unsafe-enum-assignment -- the enum is declared only, it has no value to take.
        ...(right
          ? [{ ...axis, scale: 'right', side: 1 as const, size: 46, space: 34, grid: { show: false }, values: counts }]
          : []),
      ],
      series: [
        {},
        ...view.lines.map((line, i): uPlot.Series => {
          const stroke = this.#entries[i]?.tone[theme.name] ?? theme.quiet;
          return {
            label: line.label,
            scale: line.axis === 'right' ? 'right' : 'y',
            stroke,
            width: 1.5,
            ...(isDashed(line, view.lines) && { dash: [4, 4] }),
            points: { show: true, size: 5, fill: stroke, filter: lonePoints },
          };
        }),
      ],
      hooks: {
        setCursor: [(u) => this.#showValues(u.cursor.idx ?? null)],
      },
    };
  }
}

function counts(_u: uPlot, splits: number[]): string[] {
  return splits.map(number);
}

/** Parts of a whole are read as percent. */
export function isParts({ left }: ChartView): boolean {
  return left.label === '0 to 1';
}

/** A point without neighbours would not be seen as a line; all others need no dot. */
function lonePoints(u: uPlot, series: number): number[] {
  const values = u.data[series] ?? [];
  const has = (at: number) => (values[at] ?? null) !== null;
  return Array.from(values.keys()).filter((at) => has(at) && !has(at - 1) && !has(at + 1));
}

/** Tenants have their colours; what else there is takes them in the order of the chart. */
function toneOf({ tenant, other }: LineView, position: number, tones: Tones): Tone {
  if (other) return rest;
  return tenant === null ? toneAt(position) : tones.of(tenant);
}

/** A line of something that an earlier row of the chart has drawn already. */
function isDashed({ tenant, other, row }: LineView, lines: readonly LineView[]): boolean {
  const isSame = (line: LineView) => (other ? line.other : tenant !== null && line.tenant === tenant);
  return lines.some((line) => isSame(line) && line.row < row);
}

function dataOf({ lines }: ChartView, times: readonly number[]): uPlot.AlignedData {
  return [times.map((ms) => ms / 1_000), ...lines.map(({ values }) => [...values])];
}

/** From 0, as the body says where it does, and never so narrow that noise looks like news. */
function rangeOf({ left }: ChartView): uPlot.Range.Function {
  return (_u, low, high) => {
    const top = (high ?? 0) * 1.1;
    return [left.min ?? Math.min(0, low ?? 0), left.max ?? (top > 0 ? top : 1)];
  };
}
