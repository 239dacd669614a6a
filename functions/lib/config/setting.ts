import * as z from 'zod/mini';

/** What a default may be worked out from when it is not a fixed value. */
export interface Known {
  readonly capacity: number;
  readonly maxConcurrency: number;
  readonly nowSeconds: number;
}

/** A default that follows from other settings, and the words the documentation has for it. */
export interface Derived<T> {
  readonly words: string;
  readonly from: (known: Known) => T;
}

export interface Setting<T> {
  readonly kind: 'setting';
  readonly sentence: string;
  readonly unit: string;
  /** What a value must be, in words that can follow "expected". */
  readonly expected: string;
  /** Whether the value must not be shown, not even in a message about what is wrong with it. */
  readonly secret?: boolean;
  /** Absent: there is no sensible default, a value must be given. */
  readonly default?: T | Derived<T>;
  readonly schema: z.ZodMiniType<T>;
  /** Reads the text form, as it comes from a command line or an environment variable. Leaves what it cannot read alone. */
  readonly fromText: (text: string) => unknown;
}

/** Settings under names that the user chooses, such as the plans. */
export interface Named<T> {
  readonly kind: 'named';
  readonly sentence: string;
  readonly name: RegExp;
  readonly nameExpected: string;
  readonly fields: { readonly [K in keyof T]: Setting<T[K]> };
  readonly default: Readonly<Record<string, Partial<T>>>;
}

// `unknown` would make a Setting<number> no Setting here, since its schema takes its type in both directions.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnySetting = Setting<any>;
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyNamed = Named<any>;
export type Entry = AnySetting | AnyNamed;
export interface Group {
  readonly [key: string]: Entry | Group;
}

/** The values that a table of settings describes, in the same nesting. */
export type Values<G> =
  G extends Setting<infer T>
    ? T
    : G extends Named<infer T>
      ? Readonly<Record<string, T>>
      : { readonly [K in keyof G]: Values<G[K]> };

/** The same nesting, with only what differs from the defaults. */
export type GivenValues<G> =
  G extends Setting<infer T>
    ? T
    : G extends Named<infer T>
      ? Readonly<Record<string, Partial<T>>>
      : { readonly [K in keyof G]?: GivenValues<G[K]> };

interface About<T> {
  sentence: string;
  unit?: string;
  secret?: boolean;
  default?: T | Derived<T>;
}

const setting = <T>(
  about: About<T>,
  expected: string,
  schema: z.ZodMiniType<T>,
  fromText: (text: string) => unknown,
): Setting<T> => ({ kind: 'setting', unit: '', ...about, expected, schema, fromText });

const readNumber = (text: string) => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text);
const readFlag = (text: string) => ({ true: true, false: false })[text.trim()] ?? text;
const readList = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
const asIs = (text: string) => text;

/** A whole number, both ends included. */
export const whole = (min: number, max: number, about: About<number>) =>
  setting(about, `a whole number from ${min} to ${max}`, z.number().check(z.int(), z.gte(min), z.lte(max)), readNumber);

/** A finite number, fractions allowed, both ends included. */
export const decimal = (min: number, max: number, about: About<number>) =>
  setting(about, `a number from ${min} to ${max}`, z.number().check(z.gte(min), z.lte(max)), readNumber);

export const flag = (about: About<boolean>) => setting(about, 'true or false', z.boolean(), readFlag);

export const oneOf = <const T extends string>(options: readonly T[], about: About<T>) =>
  setting<T>(about, `one of ${options.join(', ')}`, z.enum(options) as z.ZodMiniType<T>, asIs);

/** A whole number out of a list that somebody else decides, such as the retention times of a log service. */
export const oneOfNumbers = (options: readonly number[], about: About<number>) =>
  setting(
    about,
    `one of ${options.join(', ')}`,
    z.number().check(z.refine((value) => options.includes(value))),
    readNumber,
  );

export const text = (pattern: RegExp, expected: string, about: About<string>) =>
  setting(about, expected, z.string().check(z.regex(pattern)), asIs);

/** In text form a list is written with commas, so no element may hold one. */
export const list = (pattern: RegExp, expected: string, about: About<readonly string[]>) =>
  setting<readonly string[]>(about, expected, z.array(z.string().check(z.regex(pattern))), readList);

/** The same setting, or nothing: no limit. */
export const orNone = <T>(given: Setting<T>): Setting<T | null> => ({
  kind: 'setting',
  sentence: given.sentence,
  unit: given.unit,
  expected: `${given.expected}; or null for none`,
  default: null,
  schema: z.nullable(given.schema),
  fromText: (words) => (['', 'null'].includes(words.trim()) ? null : given.fromText(words)),
});

export const named = <T>(entry: Omit<Named<T>, 'kind'>): Named<T> => ({ kind: 'named', ...entry });

export const isEntry = (node: Entry | Group): node is Entry => node.kind === 'setting' || node.kind === 'named';
