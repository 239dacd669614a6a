import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingRows } from '../../functions/lib/config/parse.ts';

const README = join(import.meta.dirname, '../../README.md');
const BEGIN = '<!-- settings -->';
const END = '<!-- /settings -->';

/** The README's table of settings, as the table of settings has them. */
export function settingsTable(): string {
  const rows = settingRows().map(({ path, sentence, expected, default: value, unit }) => {
    const shown = value === '' ? 'must be given' : `\`${value.replaceAll('`', '')}\``;
    return `| \`${path}\` | ${sentence} | ${expected}${unit === '' ? '' : ` (${unit})`} | ${shown} |`;
  });
  return ['| setting | meaning | expected | default |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

/** A README with the table between its two marks made anew. */
export function withSettings(readme: string): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`;
}

if (import.meta.main) writeFileSync(README, withSettings(readFileSync(README, 'utf8')));
