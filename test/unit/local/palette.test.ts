import { describe, expect, test } from 'vitest';
import { background, rest, type Tone, toneAt, tones, Tones } from '../../../infra/local/dashboard/page/palette.ts';

type Rgb = [red: number, green: number, blue: number];

function linear(hex: string): Rgb {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const luminance = ([red, green, blue]: Rgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** WCAG 2.2: (lighter + 0.05) ÷ (darker + 0.05) */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(linear(a)), luminance(linear(b))].toSorted((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** Linear sRGB as seen without one kind of cone (Machado, Oliveira, Fernandes 2009, severity 1). */
const SIGHTS: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

/** Ottosson's Oklab, in which equal distances look about equally far apart. */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function seen(hex: string, sight: string): Rgb {
  const [r, g, b] = linear(hex);
  const [red = 0, green = 0, blue = 0] = (SIGHTS[sight] ?? []).map(([x = 0, y = 0, z = 0]) => x * r + y * g + z * b);
  return oklab([red, green, blue]);
}

const distance = (a: Rgb, b: Rgb) => Math.hypot(...a.map((value, i) => value - (b[i] ?? 0)));

const all: Tone[] = [...tones, rest];

describe.each(['light', 'dark'] as const)('on a %s page', (mode) => {
  test.each(all)('$light / $dark stands out from the background', (tone) => {
    expect(contrast(tone[mode], background[mode])).toBeGreaterThanOrEqual(3);
  });

  // A step of 0.02 is just noticeable.
  test.each([
    ['all', 0.08],
    ['no red', 0.04],
    ['no green', 0.04],
  ])('eyes with %s cones tell all colours apart', (sight, least) => {
    const near = all.flatMap((a, i) =>
      all.slice(i + 1).flatMap((b) => {
        const apart = distance(seen(a[mode], sight), seen(b[mode], sight));
        return apart < least ? [`${a[mode]} ${b[mode]} ${apart.toFixed(3)}`] : [];
      }),
    );
    expect(near).toEqual([]);
  });
});

test('a tenant keeps its colour, and the first eight have eight', () => {
  const given = new Tones();
  const first = Array.from({ length: 8 }, (_, i) => given.of(`tenant${i}`));
  expect(new Set(first).size).toBe(8);
  expect(given.of('tenant3')).toBe(first[3]);
  expect(given.of('one more')).toBe(toneAt(0));
});
