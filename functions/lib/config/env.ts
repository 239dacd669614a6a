import { SettingsError } from './faults.ts';
import { isTree, Reader, type Tree } from './reader.ts';
import { type Entry, type Group, isEntry, type Values } from './setting.ts';
import { type FunctionSettings, functionTable, linkTable, wiringTable } from './table.ts';

/** Lambda takes 4,096 bytes for all variables of a function; the rest is for those that are not ours. */
const MOST_BYTES = 3_500;

const environmentTable = { ...functionTable, ...wiringTable };

type Wiring = Values<typeof wiringTable>;
type Links = Values<typeof linkTable>;

/** What a function knows of its queue and where it runs. */
export type Runtime = FunctionSettings & Wiring;

/** `retry.maxAttempts` → `ROTA_RETRY_MAX_ATTEMPTS` */
const variable = (path: string) => `ROTA_${path.replaceAll('.', '_').replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/** Nothing is written as nothing. */
const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const toText = (entry: Entry, value: unknown): string => {
  if (entry.kind === 'named') return JSON.stringify(value);
  if (Array.isArray(value)) return value.join(',');
  return textOf(value);
};

function write(group: Group, values: object, prefix: string): [string, string][] {
  return Object.entries(group).flatMap(([key, node]) => {
    const path = `${prefix}${key}`;
    const value: unknown = Reflect.get(values, key);
    if (isTree(value) && !isEntry(node)) return write(node, value, `${path}.`);
    const written: [string, string][] =
      value === undefined || !isEntry(node) ? [] : [[variable(path), toText(node, value)]];
    return written;
  });
}

function read(reader: Reader, group: Group, env: NodeJS.ProcessEnv, prefix: string): Tree {
  const entries = Object.entries(group).map(([key, node]) => {
    const path = `${prefix}${key}`;
    if (!isEntry(node)) return [key, read(reader, node, env, `${path}.`)];
    const name = variable(path);
    const given = env[name];
    if (node.kind === 'setting') return [key, reader.setting(node, given, name, undefined)];
    return [
      key,
      given === undefined ? reader.missing(name, 'an object as JSON') : reader.named(node, parseJson(given), name),
    ];
  });
  return Object.fromEntries(entries);
}

/** The text itself when it is no JSON: the reader then says what it should have been. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/**
 * The environment variables of a function. Every function gets every setting that any of them reads, so that code which
 * moves from one to another cannot find its setting missing; links go only to the functions that may follow them.
 *
 * @throws SettingsError when they are more than Lambda takes.
 */
export function toEnv(settings: FunctionSettings, wiring: Wiring & Partial<Links>): Record<string, string> {
  const variables = [...write(functionTable, settings, ''), ...write({ ...wiringTable, ...linkTable }, wiring, '')];
  const bytes = variables.reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0);
  if (bytes > MOST_BYTES) {
    const expected = `at most ${MOST_BYTES} bytes for all variables of a function: fewer plans, hosts or audiences`;
    throw new SettingsError('The settings cannot be handed to the functions', [
      { path: 'plans', given: `${bytes} bytes`, expected },
    ]);
  }
  return Object.fromEntries(variables);
}

/**
 * What {@link toEnv} wrote, read back at cold start. Nothing has a default here: what the stack did not write is missing.
 *
 * @param needs links that the calling function follows.
 * @throws SettingsError naming every variable that is missing or malformed.
 */
export function fromEnv<L extends keyof Links = never>(
  env: NodeJS.ProcessEnv,
  ...needs: L[]
): Runtime & Pick<Links, L> {
  const reader = new Reader({ capacity: 0, maxConcurrency: 0, nowSeconds: 0 });
  const links = Object.fromEntries(needs.map((link) => [link, linkTable[link]]));
  const runtime = read(reader, { ...environmentTable, ...links }, env, '');
  if (reader.faults.length > 0)
    throw new SettingsError('The environment of this function cannot be used', reader.faults);
  // The reader goes by the tables that the type is made from.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return runtime as unknown as Runtime & Pick<Links, L>;
}
