import type { Fault } from './faults.ts';
import { type AnyNamed, type AnySetting, type Derived, type Group, isEntry, type Known } from './setting.ts';

export type Tree = { [key: string]: unknown };

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isDerived = (value: unknown): value is Derived<unknown> =>
  isTree(value) && typeof value.from === 'function';

/** Every path below a group, those of chosen names as `plans.<name>.weight`. */
function knownPaths(group: Group, prefix: string): string[] {
  return Object.entries(group).flatMap(([key, node]) => {
    if (!isEntry(node)) return knownPaths(node, `${prefix}${key}.`);
    return node.kind === 'setting' ? [`${prefix}${key}`] : knownPaths(node.fields, `${prefix}${key}.<name>.`);
  });
}

/** Reads given values by the table and collects what is wrong with them, instead of stopping at the first fault. */
export class Reader {
  readonly faults: Fault[] = [];
  private readonly known: Known;

  constructor(known: Known) {
    this.known = known;
  }

  group(group: Group, given: unknown, prefix = ''): Tree {
    const tree = this.fields(group, given, prefix);
    const read = Object.entries(group).map(([key, node]) => {
      const path = `${prefix}${key}`;
      if (!isEntry(node)) return [key, this.group(node, tree[key], `${path}.`)];
      return [
        key,
        node.kind === 'setting' ? this.setting(node, tree[key], path, node.default) : this.named(node, tree[key], path),
      ];
    });
    return Object.fromEntries(read);
  }

  /** The value, or `undefined` beside a fault. Absent and without a fallback is a fault as well. */
  setting(entry: AnySetting, given: unknown, path: string, fallback: unknown): unknown {
    if (given === undefined && fallback !== undefined)
      return isDerived(fallback) ? fallback.from(this.known) : fallback;
    if (given === undefined) return this.missing(path, entry.expected);
    const read = entry.schema.safeParse(typeof given === 'string' ? entry.fromText(given) : given);
    if (!read.success)
      this.faults.push({ path, given: entry.secret === true ? '(not shown)' : given, expected: entry.expected });
    return read.data;
  }

  named(entry: AnyNamed, given: unknown, path: string): Tree {
    const tree = this.tree(given ?? entry.default, path);
    const read = Object.keys(tree).map((name) => {
      const prefix = `${path}.${name}.`;
      if (!entry.name.test(name))
        this.faults.push({ path: `${path}.${name}`, given: name, expected: entry.nameExpected });
      const fields = this.fields(entry.fields, tree[name], prefix);
      const values = Object.entries<AnySetting>(entry.fields).map(([field, setting]) => {
        const fallback = entry.default[name]?.[field] ?? setting.default;
        return [field, this.setting(setting, fields[field], `${prefix}${field}`, fallback)];
      });
      return [name, Object.fromEntries(values)];
    });
    return Object.fromEntries(read);
  }

  missing(path: string, expected: string): undefined {
    this.faults.push({ path, expected });
  }

  private fields(group: Group, given: unknown, prefix: string): Tree {
    const tree = this.tree(given ?? {}, prefix.slice(0, -1));
    for (const key of Object.keys(tree)) {
      if (Object.hasOwn(group, key)) continue;
      const expected = `no such setting; there are ${knownPaths(group, prefix).join(', ')}`;
      this.faults.push({ path: `${prefix}${key}`, given: tree[key], expected });
    }
    return tree;
  }

  private tree(given: unknown, path: string): Tree {
    if (isTree(given)) return given;
    this.faults.push({ path: path || 'rota', given, expected: 'an object' });
    return {};
  }
}
