/** A colour for a light and for a dark page. */
export interface Tone {
  readonly light: string;
  readonly dark: string;
}

export const background: Tone = { light: '#ffffff', dark: '#16181d' };

/**
 * Colours of lines and shares, in the order they are given out: each at least 3 to 1 against its background (WCAG's bound
 * for graphics) and told apart from every other, also by those who see no red or no green.
 */
export const tones: readonly Tone[] = [
  { light: '#2a62cf', dark: '#6ea0ff' },
  { light: '#d9651b', dark: '#f59a4a' },
  { light: '#03a176', dark: '#3fc9b4' },
  { light: '#cd69b3', dark: '#fe98d5' },
  { light: '#4e5206', dark: '#d9c738' },
  { light: '#5c3686', dark: '#b3b3f2' },
  { light: '#9f374b', dark: '#ba777e' },
  { light: '#149cd9', dark: '#0e9ad0' },
];

/** What stands for all the rest together, and for what has no colour of its own. */
export const rest: Tone = { light: '#6b7280', dark: '#9aa3b2' };

export function toneAt(position: number): Tone {
  return tones[position % tones.length] ?? rest;
}

/** Gives each tenant a tone, the same in every chart, in the order in which they are first seen. */
export class Tones {
  readonly #given = new Map<string, Tone>();

  of(tenant: string): Tone {
    const known = this.#given.get(tenant);
    if (known) return known;
    const tone = toneAt(this.#given.size);
    this.#given.set(tenant, tone);
    return tone;
  }
}
