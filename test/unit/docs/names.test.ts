import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSettings, settingRows } from '../../../functions/lib/config/parse.ts';

const pages = ['README.md', 'lua/README.md', 'test/fixtures/README.md', ...globSync('infra/docs/**/*.md')];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const settings = new Set(settingRows().map(({ path }) => path));

/** The job type that the README shows how to add. */
const TO_BE_MADE = 'functions/process/jobs/invoice.ts';

/** As a page of Markdown is linked into: `## The way, in short` is `#the-way-in-short`. */
const anchors = (page: string) =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

const found = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].map(([, name = '']) => name);

describe.each(pages)('%s', (path) => {
  const page = readFileSync(path, 'utf8');

  it('links pages and headings that are there', () => {
    const broken = found(page, /\]\((?!https?:)([^)\s]+)\)/g).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      return !existsSync(target) || (anchor !== undefined && !anchors(readFileSync(target, 'utf8')).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names files, scripts and settings that there are', () => {
    const files = found(page, /(?<![\w/.])((?:functions|infra|lua|test)\/[\w./-]+\.(?:ts|md|lua|yaml|mjs))\b/g);
    expect(files.filter((file) => file !== TO_BE_MADE && !existsSync(file))).toEqual([]);
    expect(found(page, /npm run ([\w:-]+)/g).filter((script) => !(script in scripts))).toEqual([]);
    const given = found(page, /-c rota\.([\w.]+)=/g).map((name) => name.replace(/^plans\.\w+\./, 'plans.<name>.'));
    expect(given.filter((name) => !settings.has(name))).toEqual([]);
  });
});

it('the production profile of infra/docs/sizing.md is one that can be deployed', () => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync('infra/docs/sizing.md', 'utf8')) ?? [];
  expect(parseSettings({ rota: JSON.parse(json) })).toMatchObject({ engine: 'valkey', durability: 'async' });
});
