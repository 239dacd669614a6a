import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../functions/lib/queue/script.ts';

const root = join(import.meta.dirname, '../..');
const verbs = readdirSync(join(root, 'lua'))
  .filter((file) => file.endsWith('.lua'))
  .map((file) => file.slice(0, -'.lua'.length));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const faces = new Map<string, Script<string, unknown>>();
for (const verb of verbs) {
  const module: Record<string, Script<string, unknown>> = await import(`../../functions/lib/queue/scripts/${verb}.ts`);
  const face = module[verb];
  if (face === undefined) throw new Error(`functions/lib/queue/scripts/${verb}.ts exports no '${verb}'`);
  faces.set(verb, face);
}
function faceOf(verb: string): Script<string, unknown> {
  const face = faces.get(verb);
  if (face === undefined) throw new Error(`no face of '${verb}'`);
  return face;
}

/** The header's lines by their first word; a line indented further goes on with the one before. */
function headerOf(verb: string) {
  const source = read(`lua/${verb}.lua`);
  const lines = source.slice(0, source.search(/^(?!--)/m)).split('\n');
  const entries: string[] = [];
  for (const line of lines.filter((each) => each !== '')) {
    if (line.startsWith('--   ')) entries.push(`${entries.pop() ?? ''} ${line.slice(5)}`);
    else entries.push(line.replace(/^--\s*/, ''));
  }
  const [sentence = '', ...rest] = entries;
  const field = (name: string) => rest.find((entry) => entry.startsWith(`${name} `))?.slice(name.length + 1);
  return { sentence, field, names: rest.map((entry) => entry.split(' ')[0]) };
}

const withoutParentheses = (text: string) => text.replace(/\([^()]*\)/g, '');

/** Code without comments and strings, whose words would pass for calls. */
const bare = (lua: string) => lua.replace(/--.*$/gm, '').replace(/'[^'\n]*'/g, "''");

function outcomesOf(verb: string): string[] {
  const returns = withoutParentheses(headerOf(verb).field('RETURNS') ?? '');
  return returns.split('|').map((alternative) => /^\s*(\w+)/.exec(alternative)?.[1] ?? '');
}

/** The top-level functions of the shared parts, and what each one's body says. */
const shared = new Map<string, string>();
for (const file of readdirSync(join(root, 'lua/lib'))) {
  for (const [, name = '', body = ''] of read(`lua/lib/${file}`).matchAll(
    /^local function (\w+)(\([^\n]* end$|[\s\S]*?^end$)/gm,
  )) {
    shared.set(name, body);
  }
}

/** The kinds of key that some code can make, through all that it calls. */
function derivedBy(code: string, seen = new Set<string>()): Set<string> {
  const kinds = new Set<string>();
  const words = new Set(bare(code).match(/(?<![.\w])[A-Za-z]\w*/g));
  // `commit` looks at the heads of the lists only for a tenant whose head was said to have moved.
  if (/headMoved = true/.test(code)) words.add('indexOldest');
  for (const word of words) {
    const kind = /^(\w+)Key$/.exec(word)?.[1];
    if (kind !== undefined && shared.has(word)) kinds.add(kind);
    const body = shared.get(word);
    if (body === undefined || seen.has(word)) continue;
    seen.add(word);
    const inner = word === 'saveTenant' ? body.replace('indexOldest(t)', '') : body;
    for (const found of derivedBy(inner, seen)) kinds.add(found);
  }
  return kinds;
}

/** What a face says to a reply of one word. */
function refusalOf(face: Script<string, unknown>, word: string): string {
  try {
    face.decode([Buffer.from(word)]);
  } catch (error) {
    return String(error);
  }
  return '';
}

it('every script has a face and a test of its name, and every face a script', () => {
  expect(verbs.length).toBeGreaterThanOrEqual(14);
  const scripts = readdirSync(join(root, 'functions/lib/queue/scripts')).map((file) => file.replace('.ts', ''));
  expect(scripts.toSorted()).toEqual(verbs.toSorted());
  expect(verbs.filter((verb) => !existsSync(join(root, `test/lua/${verb}.test.ts`)))).toEqual([]);
  for (const verb of verbs) expect(faceOf(verb).name).toBe(verb);
});

describe.each(verbs)('the header of %s', (verb) => {
  const source = read(`lua/${verb}.lua`);
  const header = headerOf(verb);
  const face = faceOf(verb);

  it('has a sentence and every part, in order', () => {
    expect(header.sentence).toMatch(new RegExp(`^${verb}: .+\\.$`));
    expect(header.names.filter((name) => name !== 'ARGV')).toEqual(['KEYS', 'RETURNS', 'DERIVES', 'INVARIANT']);
    expect(header.field('KEYS')).toBe('1 prefix');
  });

  it('names the arguments of the face, in its order', () => {
    const [named = ''] = withoutParentheses(header.field('ARGV') ?? '').split(/\bthen\b/);
    const numbered = [...named.matchAll(/(\d+) (\w+)/g)];
    expect(numbered.map(([, position]) => Number(position))).toEqual(numbered.map((_, i) => i + 1));
    expect(numbered.map(([, , name]) => name)).toEqual(face.fields);
  });

  it('is followed by locals that read every argument once, and nothing below reads one by its number', () => {
    const code = bare(source.slice(source.search(/^(?!--)/m)));
    const below = code.search(/^(?!local [^\n]*(ARGV|=)| {2}ARGV)/m);
    const numbers = [...code.slice(0, below).matchAll(/ARGV\[(\d+)\]/g)].map(([, n]) => Number(n));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(face.fields.map((_, i) => i + 1));
    expect(code.slice(below)).not.toMatch(/ARGV\[\d+\]/);
    // What comes after the named ones starts right behind them.
    const rest = /local [^=]*\bfirst\w+ = [^\n]*?(\d+)$/m.exec(code)?.[1];
    expect(rest === undefined ? undefined : Number(rest)).toBe(
      /ARGV\[[^\]\d]/.test(code) ? face.fields.length + 1 : undefined,
    );
    expect(code).not.toMatch(/\bKEYS\b/);
  });

  it('lists every outcome of the script, and no other', () => {
    const said = new Set<string>();
    for (const [, word = ''] of source.matchAll(/(?:return|reply =) \{\s*'(\w+)'/g)) said.add(word);
    for (const [, word = ''] of source.matchAll(/openedReply\('(\w+)'/g)) said.add(word);
    if (/\bunknownPlan\(\)/.test(source)) said.add('unknown_plan');
    if (/return \{ refused,/.test(source)) {
      for (const [, word = ''] of source.matchAll(/refused = '(\w+)'/g)) said.add(word);
      for (const [, word = ''] of (shared.get('selectionRefused') ?? '').matchAll(/return '(\w+)'/g)) said.add(word);
    }
    expect(outcomesOf(verb).toSorted()).toEqual([...said].toSorted());
  });

  it('lists outcomes that the face decodes, which refuses any other', () => {
    for (const outcome of outcomesOf(verb)) expect(refusalOf(face, outcome)).not.toContain('answered');
    expect(refusalOf(face, 'nonsense')).toContain(`${verb} answered "nonsense"`);
  });

  it('lists the keys that the script can derive', () => {
    const listed = header.field('DERIVES') === 'nothing' ? [] : (header.field('DERIVES') ?? '').split(', ');
    expect(listed.toSorted()).toEqual([...derivedBy(source)].toSorted());
  });
});
