import type { AlarmView } from '../view.ts';
import { h, setChildren, setText } from './dom.ts';
import { duration } from './format.ts';

const WORDS = { OK: 'OK', ALARM: 'In alarm', INSUFFICIENT_DATA: 'No data yet' } as const;

class Alarm {
  readonly element: HTMLDetailsElement;
  readonly #state = h('span', { class: 'state' });
  readonly #reason = h('p');
  readonly #condition = h('p', { class: 'quiet' });
  readonly #description = h('p', { class: 'quiet' });

  constructor(name: string, shortName: string) {
    const label = h('span', { class: 'name', title: name }, shortName);
    const summary = h('summary', {}, h('i', { class: 'dot' }), label, this.#state);
    this.element = h('details', { class: 'alarm', 'data-alarm': name }, summary);
    this.element.append(h('div', { class: 'why' }, this.#reason, this.#condition, this.#description));
  }

  update(alarm: AlarmView, nowMs: number): void {
    this.element.dataset.state = alarm.state;
    const since = duration(Math.max(0, (nowMs - alarm.sinceMs) / 1_000));
    setText(this.#state, alarm.state === 'OK' ? WORDS.OK : `${WORDS[alarm.state]} · ${since}`);
    setText(this.#reason, `${alarm.reason}. In this state for ${since}.`);
    setText(this.#condition, `Fires ${alarm.condition}.`);
    setText(this.#description, alarm.description);
  }
}

/** What all names begin with, up to a hyphen: the queue's name stands on the page already. */
function sharedPrefix(names: readonly string[]): string {
  const [first = '', ...others] = names;
  if (others.length === 0) return '';
  let length = 0;
  while (length < first.length && others.every((name) => name[length] === first[length])) length++;
  return first.slice(0, first.lastIndexOf('-', length - 1) + 1);
}

/** The alarms: a line of states, the firing ones first; each opens to say why. */
export class Alarms {
  readonly element = h('section', { class: 'alarms', 'aria-label': 'Alarms' });
  readonly #headline = h('h2');
  readonly #list = h('div', { class: 'alarm-list' });
  readonly #alarms = new Map<string, Alarm>();

  constructor() {
    this.element.append(this.#headline, this.#list);
  }

  update(alarms: readonly AlarmView[], nowMs: number): void {
    this.element.hidden = alarms.length === 0;
    const firing = alarms.filter(({ state }) => state === 'ALARM').length;
    this.element.classList.toggle('firing', firing > 0);
    setText(
      this.#headline,
      firing === 0 ? 'No alarm is firing' : firing === 1 ? '1 alarm is firing' : `${firing} alarms are firing`,
    );
    const rank = { ALARM: 0, OK: 1, INSUFFICIENT_DATA: 1 };
    const sorted = alarms.toSorted((a, b) => rank[a.state] - rank[b.state] || a.name.localeCompare(b.name));
    const prefix = sharedPrefix(alarms.map(({ name }) => name));
    setChildren(
      this.#list,
      sorted.map((alarm) => {
        const shown = this.#alarms.get(alarm.name) ?? new Alarm(alarm.name, alarm.name.slice(prefix.length));
        this.#alarms.set(alarm.name, shown);
        shown.update(alarm, nowMs);
        return shown.element;
      }),
    );
  }
}
