import type { TenantState } from './tenants.ts';

/** A reading of all tenants at one moment. `atMs` is any steady clock. */
export interface Sample {
  readonly atMs: number;
  readonly states: readonly TenantState[];
}

export interface Row extends TenantState {
  /** Part of the jobs done in the window, 0–1; null when none was. */
  readonly realised: number | null;
  /** Part that its weight entitles it to among the tenants that had work all through the window; null when it had not. */
  readonly entitled: number | null;
}

/** What rates and shares are measured over. */
export const WINDOW_MS = 5_000;

/** Keeps the samples of the last five seconds, and makes rows of them. */
export class Shares {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    this.#samples.push(sample);
    while ((this.#samples[1]?.atMs ?? sample.atMs) <= sample.atMs - WINDOW_MS) this.#samples.shift();
  }

  /** Jobs done per second over the window, by all tenants; 0 with fewer than two samples. */
  rate(): number {
    const [first, last] = this.#ends();
    const seconds = (last.atMs - first.atMs) / 1000;
    return seconds > 0 ? (doneIn(last) - doneIn(first)) / seconds : 0;
  }

  rows(): Row[] {
    const [first, last] = this.#ends();
    const all = doneIn(last) - doneIn(first);
    const backlogged = last.states.filter(({ tenant }) =>
      this.#samples.every(({ states }) => (states.find((state) => state.tenant === tenant)?.depth ?? 0) > 0),
    );
    const weights = backlogged.reduce((sum, { weight }) => sum + weight, 0);
    return last.states.map((state) => {
      const before = first.states.find(({ tenant }) => tenant === state.tenant);
      return {
        ...state,
        realised: all > 0 ? (state.done - (before?.done ?? 0)) / all : null,
        entitled: backlogged.includes(state) ? state.weight / weights : null,
      };
    });
  }

  #ends(): [Sample, Sample] {
    const empty: Sample = { atMs: 0, states: [] };
    return [this.#samples[0] ?? empty, this.#samples.at(-1) ?? empty];
  }
}

function doneIn({ states }: Sample): number {
  return states.reduce((sum, { done }) => sum + done, 0);
}
