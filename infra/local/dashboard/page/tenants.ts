import type { TenantRow, TenantsView } from '../view.ts';
import { h, setChildren, setText } from './dom.ts';
import { duration, number, percent } from './format.ts';
import { rest, type Tone, type Tones } from './palette.ts';
import { currentTheme, onTheme } from './theme.ts';

/** What keeps a tenant from being served, beyond others being ahead of it. */
const BECAUSE: Record<string, string> = {
  paused: 'paused',
  queue_paused: 'queue paused',
  concurrency: 'at its concurrency',
  rate: 'rate-limited',
  backoff: 'backing off',
  delayed: 'none is due',
  dispatcher: 'no dispatcher',
};

const COLUMNS = ['Tenant', 'Plan', 'Weight', 'Waiting', 'In flight', 'Oldest', 'Share of service'];

class Row {
  readonly element: HTMLTableRowElement;
  readonly #cells = ['plan', 'weight', 'depth', 'flight', 'oldest'].map((name) => h('td', { class: name }));
  readonly #because = h('span', { class: 'because' });
  readonly #bar = h('i', { class: 'fill' });
  readonly #tick = h('i', { class: 'tick' });
  readonly #realised = h('span', { class: 'realised' });
  readonly #entitled = h('span', { class: 'entitled' });
  readonly #tone: Tone;

  constructor({ tenant, other }: TenantRow, tones: Tones) {
    const name = h('th', { scope: 'row', title: tenant }, h('bdi', {}, other ? 'all others' : tenant), this.#because);
    const numbers = h('span', { class: 'shares' }, this.#realised, this.#entitled);
    const bar = h('span', { class: 'bar' }, this.#bar, this.#tick);
    const share = h('td', { class: 'share' }, h('div', {}, bar, numbers));
    this.element = h('tr', { 'data-tenant': tenant }, name, ...this.#cells, share);
    this.#tone = other ? rest : tones.of(tenant);
    this.paint();
  }

  paint(): void {
    this.#bar.style.background = this.#tone[currentTheme().name];
  }

  update(row: TenantRow): void {
    const texts = [
      row.plan ?? '–',
      number(row.weight),
      number(row.depth),
      number(row.inFlight),
      duration(row.oldestAgeSeconds),
    ];
    for (const [i, cell] of this.#cells.entries()) setText(cell, texts[i] ?? '');
    setText(this.#because, row.because === null ? '' : (BECAUSE[row.because] ?? ''));
    this.#bar.style.width = `${(row.realised ?? 0) * 100}%`;
    this.#tick.style.left = `${(row.entitled ?? 0) * 100}%`;
    this.#tick.hidden = row.entitled === null;
    setText(this.#realised, percent(row.realised));
    setText(this.#entitled, row.entitled === null ? '' : `of ${percent(row.entitled)}`);
  }
}

function keyOf({ tenant, other }: TenantRow): string {
  return JSON.stringify([tenant, other]);
}

/** The tenants, with what each gets beside what it is entitled to: one bar, and a tick where it should end. */
export class Tenants {
  readonly element: HTMLElement;
  #rows = new Map<string, Row>();
  readonly #body = h('tbody');
  readonly #note = h('p', { class: 'empty' });
  readonly #tones: Tones;

  constructor(tones: Tones) {
    this.#tones = tones;
    onTheme(() => {
      for (const row of this.#rows.values()) row.paint();
    });
    const head = h('tr', {}, ...COLUMNS.map((column) => h('th', { scope: 'col' }, column)));
    const legend = h(
      'p',
      { class: 'key' },
      h('i', { class: 'key-bar' }),
      'realised',
      h('i', { class: 'key-tick' }),
      'entitled',
    );
    this.element = h(
      'section',
      { class: 'card tenants', 'aria-label': 'Tenants' },
      h('header', {}, h('h2', {}, 'Tenants'), legend),
      h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, head), this.#body)),
      this.#note,
    );
  }

  update({ rows, trouble }: TenantsView): void {
    // Only who is shown is kept: a page may stay open while thousands come and go.
    this.#rows = new Map(
      rows.map((row) => [keyOf(row), this.#rows.get(keyOf(row)) ?? new Row(row, this.#tones)] as const),
    );
    for (const row of rows) this.#rows.get(keyOf(row))?.update(row);
    setChildren(
      this.#body,
      [...this.#rows.values()].map(({ element }) => element),
    );
    this.element.classList.toggle('nothing', rows.length === 0);
    setText(
      this.#note,
      trouble ?? (rows.length === 0 ? 'Nobody waits, and nobody was served in the last minutes.' : ''),
    );
  }
}
