import { type Fault, SettingsError } from './faults.ts';
import { isDerived, isTree, Reader, type Tree } from './reader.ts';
import { relationFaults } from './relations.ts';
import { type Group, isEntry } from './setting.ts';
import { type Settings, table } from './stack-table.ts';

/** The context key that holds the settings, and with a dot the prefix of the keys that override one of them. */
const CONTEXT_KEY = 'rota';

interface Options {
  /** The settings are for running on this machine. Lifts the rules that only hold inside the stack's network. */
  local?: boolean;
  /** Nothing but a queue is made from this context. A key that is a setting's but for its prefix is then a fault. */
  alone?: boolean;
  /** Unix time in seconds, for the default deploy version. */
  nowSeconds?: number;
}

const bare = (): Tree => Object.create(null);

/** A deep copy whose objects have no prototype, so that a path such as `__proto__.weight` is a name like any other. */
const copy = (tree: Tree): Tree => {
  const copied = bare();
  for (const [key, value] of Object.entries(tree)) copied[key] = isTree(value) ? copy(value) : value;
  return copied;
};

/** Puts `value` at `path` and makes the objects on the way. */
function put(tree: Tree, [head = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    tree[head] = value;
    return;
  }
  const next = isTree(tree[head]) ? tree[head] : bare();
  tree[head] = next;
  put(next, rest, value);
}

/** Lays the keys `rota.<path>` over the object under `rota`. */
function gather(context: Tree): unknown {
  const base = context[CONTEXT_KEY] ?? {};
  const overrides = Object.entries(context).filter(([key]) => key.startsWith(`${CONTEXT_KEY}.`));
  if (!isTree(base)) return base;
  const merged = copy(base);
  // An override of one plan leaves the others there, and those are the default ones unless the object has its own set.
  if (overrides.some(([key]) => key.startsWith(`${CONTEXT_KEY}.plans.`))) merged.plans ??= copy(table.plans.default);
  for (const [key, value] of overrides) put(merged, key.slice(CONTEXT_KEY.length + 1).split('.'), value);
  return merged;
}

/** A queue alone makes its own network, in which there is no endpoint before. */
function networkFaults(given: unknown): Fault[] {
  if (!isTree(given) || given.endpoint !== 'existing') return [];
  const expected =
    'create, or none where egress is not; existing is for an app of your own that gives FairQueue its vpc';
  return [{ path: 'endpoint', given: 'existing', expected }];
}

/** Keys that were meant for a setting, by their first part or its case, and that nobody would ever read. */
function strayFaults(context: Tree): Fault[] {
  return Object.entries(context).flatMap(([key, given]) => {
    const [first = ''] = key.split('.', 1);
    const isSetting = Object.hasOwn(table, first);
    if (first === CONTEXT_KEY || !(isSetting || first.toLowerCase() === CONTEXT_KEY)) return [];
    const path = isSetting ? key : key.slice(first.length + 1);
    return [{ path: key, given, expected: `the key ${CONTEXT_KEY}.${path}` }];
  });
}

/** Reads what other defaults follow from. Its faults are those that the whole reading finds again. */
function readBasis(given: unknown): { capacity: number; maxConcurrency: number } {
  const tree = isTree(given) ? given : {};
  const reader = new Reader({ capacity: 0, maxConcurrency: 0, nowSeconds: 0 });
  const read = (key: 'capacity' | 'maxConcurrency') =>
    Number(reader.setting(table[key], tree[key], key, table[key].default) ?? table[key].default);
  return { capacity: read('capacity'), maxConcurrency: read('maxConcurrency') };
}

/**
 * The settings of a queue from an object in the table's nesting; what is not given has its default. Complete settings come
 * back as they are.
 *
 * @throws SettingsError naming every fault there is: unknown paths, values out of range, relations that do not hold.
 */
export function readSettings(given: unknown, options: Omit<Options, 'alone'> = {}): Settings {
  return readAll(given, [], options);
}

/**
 * The settings of a queue, from the context of the CDK: the object under `rota`, overridden by keys `rota.<path>`
 * (`-c rota.plans.free.maxDepth=10`). Text is read as what the table says: numbers, true or false, lists with commas.
 *
 * @throws SettingsError as {@link readSettings} does.
 */
export function parseSettings(context: Tree, { alone = false, ...options }: Options = {}): Settings {
  const given = gather(context);
  return readAll(given, alone ? [...strayFaults(context), ...networkFaults(given)] : [], options);
}

function readAll(given: unknown, faultsBefore: readonly Fault[], options: Omit<Options, 'alone'>): Settings {
  const { local = false, nowSeconds = Math.floor(Date.now() / 1000) } = options;
  const reader = new Reader({ ...readBasis(given), nowSeconds });
  // The reader goes by the same table as the type; a value beside a fault is undefined, and never leaves this function.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const settings = reader.group(table, given) as unknown as Settings;
  const faulty = reader.faults.map((fault) => fault.path);
  const faults = [...faultsBefore, ...reader.faults, ...relationFaults(settings, local, faulty)];
  if (faults.length > 0) throw new SettingsError('The settings cannot be used', faults);
  return settings;
}

/** What the documentation says of one setting. */
export interface SettingRow {
  readonly path: string;
  readonly sentence: string;
  readonly default: string;
  readonly unit: string;
  readonly expected: string;
}

const shown = (value: unknown): string => {
  if (isDerived(value)) return value.words;
  return value === undefined ? '' : JSON.stringify(value);
};

/** One row for every setting, in the table's order. */
export function settingRows(group: Group = table, prefix = ''): SettingRow[] {
  return Object.entries(group).flatMap(([key, node]) => {
    const path = `${prefix}${key}`;
    if (!isEntry(node)) return settingRows(node, `${path}.`);
    if (node.kind === 'named') {
      const row = {
        path,
        sentence: node.sentence,
        unit: '',
        expected: node.nameExpected,
        default: JSON.stringify(node.default),
      };
      return [row, ...settingRows(node.fields, `${path}.<name>.`)];
    }
    const { sentence, unit, expected } = node;
    return [{ path, sentence, unit, expected, default: shown(node.default) }];
  });
}
