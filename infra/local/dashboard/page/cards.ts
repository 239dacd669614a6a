import type { DashboardView, WidgetView } from '../view.ts';
import { Chart, isParts } from './chart.ts';
import { h, setText } from './dom.ts';
import { duration } from './format.ts';
import type { Tones } from './palette.ts';

/** A widget in its place. What it shows changes; where it stands does not. */
class Card {
  readonly element: HTMLElement;
  readonly #content = h('div', { class: 'content' });
  readonly #tones: Tones;
  #chart: Chart | undefined;

  constructor(widget: WidgetView, tones: Tones) {
    this.#tones = tones;
    const title = widget.title === '' ? [] : [h('h3', {}, widget.title, unitsOf(widget))];
    this.element = h('section', { class: `card ${widget.kind}`, 'data-widget': widget.title }, ...title, this.#content);
    const { x, y, width, height } = widget;
    this.element.style.setProperty('--column', `${x + 1} / span ${width}`);
    this.element.style.setProperty('--row', `${y + 1} / span ${height}`);
    this.element.style.setProperty('--height', String(height));
  }

  update(widget: WidgetView, view: DashboardView): void {
    switch (widget.kind) {
      case 'chart':
        if (!this.#chart) this.#content.append((this.#chart = new Chart(this.#tones)).element);
        this.#chart.update(widget, view.times, emptyText(view));
        break;
      case 'elsewhere':
        setText(this.#content, widget.why);
        break;
      default:
        widget satisfies never;
    }
  }
}

/** What the axes count, beside the title: turned letters along an axis are hard to read. */
function unitsOf(widget: WidgetView): HTMLElement {
  if (widget.kind !== 'chart') return h('span');
  const { lines, left, rightLabel } = widget;
  const right = rightLabel !== '' && lines.some(({ axis }) => axis === 'right') ? `right: ${rightLabel}` : '';
  return h('span', { class: 'unit' }, [isParts(widget) ? '' : left.label, right].filter(Boolean).join(' · '));
}

function emptyText({ monitor }: DashboardView): string {
  const most = duration(monitor.everySeconds);
  return monitor.lastMs === null
    ? `Waits for monitor’s first reading, at most ${most}.`
    : 'Nothing was measured in this time.';
}

/** The widgets of the dashboard body, in its own grid. */
export class Cards {
  readonly element = h('section', { class: 'widgets', 'aria-label': 'Metrics' });
  readonly #tones: Tones;
  #cards: Card[] = [];

  constructor(tones: Tones) {
    this.#tones = tones;
  }

  update(view: DashboardView): void {
    if (this.#cards.length !== view.widgets.length) {
      this.#cards = view.widgets.map((widget) => new Card(widget, this.#tones));
      const inOrder = view.widgets
        .map(({ x, y }, i) => ({ at: y * 100 + x, card: this.#cards[i] }))
        .toSorted((a, b) => a.at - b.at);
      // On a phone the cards stand in this order, below each other.
      this.element.replaceChildren(...inOrder.flatMap(({ card }) => card?.element ?? []));
    }
    for (const [i, widget] of view.widgets.entries()) this.#cards[i]?.update(widget, view);
  }
}
