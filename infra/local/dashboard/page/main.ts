import type { DashboardView } from '../view.ts';
import { Alarms } from './alarms.ts';
import { Cards } from './cards.ts';
import { h, setText } from './dom.ts';
import { duration } from './format.ts';
import { Tones } from './palette.ts';
import { Tenants } from './tenants.ts';
import { paintBrowser } from './theme.ts';

const EVERY_MS = 2_000;

const RANGES = [
  { seconds: 300, label: '5 min' },
  { seconds: 900, label: '15 min' },
  { seconds: 3_600, label: '1 h' },
  { seconds: 10_800, label: '3 h' },
];

const tones = new Tones();
const alarms = new Alarms();
const tenants = new Tenants(tones);
const cards = new Cards(tones);
const queue = h('span', { class: 'queue' });
const status = h('p', { class: 'status', role: 'status' });
let range = RANGES[0]?.seconds ?? 300;
let timer: number | undefined;

document.body.append(
  h('header', { class: 'top' }, h('h1', {}, 'Rota', queue), status, rangeChoice()),
  h('main', {}, alarms.element, tenants.element, cards.element),
);
paintBrowser();
void refresh();
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void refresh();
});

function rangeChoice(): HTMLElement {
  const choice = h('fieldset', { class: 'ranges' }, h('legend', {}, 'Time shown'));
  for (const { seconds, label } of RANGES) {
    const input = h('input', { type: 'radio', name: 'range', value: String(seconds) });
    input.checked = seconds === range;
    input.addEventListener('change', () => {
      range = seconds;
      void refresh();
    });
    choice.append(h('label', {}, input, h('span', {}, label)));
  }
  return choice;
}

/** One look at the runner, and the next one soon; a page that nobody sees does not ask. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  if (document.visibilityState === 'hidden') return;
  try {
    const response = await fetch(`/dashboard/data?range=${range}`);
    if (!response.ok) throw new Error(`The runner answered ${response.status}.`);
    const view: DashboardView = await response.json();
    show(view);
  } catch (error) {
    document.body.classList.add('away');
    setText(status, error instanceof TypeError ? 'The runner is away; this is what it last said.' : String(error));
  }
  clearTimeout(timer);
  timer = setTimeout(() => void refresh(), EVERY_MS);
}

function show(view: DashboardView): void {
  document.body.classList.remove('away');
  document.title = `Rota ${view.queue}`;
  setText(queue, view.queue);
  setText(status, statusOf(view.monitor));
  // Tenants first: they choose the colours that the charts then share.
  tenants.update(view.tenants);
  alarms.update(view.alarms, view.nowMs);
  cards.update(view);
}

function statusOf({ everySeconds, onAwsSeconds }: DashboardView['monitor']): string {
  const here = `monitor reads every ${duration(everySeconds)}`;
  return everySeconds === onAwsSeconds
    ? `Live · ${here}`
    : `Live · ${here} here, every ${duration(onAwsSeconds)} on AWS`;
}
