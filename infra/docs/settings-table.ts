import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDerived } from '../../functions/lib/config/reader.ts';
import { type Group, isEntry } from '../../functions/lib/config/setting.ts';
import { table } from '../../functions/lib/config/table.ts';

const README = join(import.meta.dirname, '../../README.md');
const BEGIN = '<!-- settings -->';
const END = '<!-- /settings -->';

function words(value: unknown): string {
  if (isDerived(value)) return value.words;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((part) => `\`${part}\``).join(', ');
  if (value === undefined) return 'must be given';
  return value === '' ? 'empty' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}

function rows(group: Group, prefix: string): string[] {
  return Object.entries(group).flatMap(([key, node]) => {
    if (!isEntry(node)) return rows(node, `${prefix}${key}.`);
    if (node.kind === 'setting') {
      const unit = ['number', 'string'].includes(typeof node.default) && node.unit !== '' ? ` ${node.unit}` : '';
      return `| \`${prefix}${key}\` | ${node.sentence} | ${words(node.default)}${unit} |`;
    }
    const defaults = Object.entries(node.default).map(
      ([name, fields]) => `\`${name}\` ${Object.values<unknown>(fields).map(String).join(' / ')}`,
    );
    return [
      `| \`${prefix}${key}\` | ${node.sentence} | ${defaults.join(', ')} (weight / maxDepth) |`,
      ...rows(node.fields, `${prefix}${key}.<name>.`),
    ];
  });
}

/** The README's table of settings, as the table of settings has them. */
export function settingsTable(): string {
  return ['| setting | meaning | default |', '| --- | --- | --- |', ...rows(table, '')].join('\n');
}

/** A README with the table between its two marks made anew. */
export function withSettings(readme: string): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`;
}

if (import.meta.main) writeFileSync(README, withSettings(readFileSync(README, 'utf8')));
