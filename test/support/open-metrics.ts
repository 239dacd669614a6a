/** A sample of OpenMetrics text. */
interface OpenSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface OpenFamily {
  readonly type: string;
  readonly samples: OpenSample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const META = new RegExp(`^# (HELP|TYPE|UNIT) (${NAME}) (.+)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (-?(?:\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?))$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const UNESCAPED: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

function labelsOf(text = ''): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`bad labels at ${at}: ${text}`);
    if (Object.hasOwn(labels, name)) throw new Error(`label ${name} twice: ${text}`);
    labels[name] = value.replaceAll(/\\./g, (escape) => UNESCAPED[escape] ?? escape);
  }
  return labels;
}

/**
 * Reads OpenMetrics 1.0 text as strictly as its specification is: metadata first, families in one piece, names that suit
 * type and unit, no sample twice, an end mark. Of types it knows counters and gauges. @throws Error naming the line
 */
export function parseOpenMetrics(text: string): Map<string, OpenFamily> {
  if (!text.endsWith('# EOF\n')) throw new Error('it does not end with "# EOF" and a line feed');
  const families = new Map<string, OpenFamily>();
  const seen = new Set<string>();
  let current: { name: string; meta: Map<string, string>; family: OpenFamily } | undefined;
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const [, kind = '', about = '', value = ''] = META.exec(line) ?? [];
    if (kind !== '') {
      if (current?.name !== about) {
        if (families.has(about)) throw new Error(`family ${about} comes in two pieces: ${line}`);
        current = { name: about, meta: new Map(), family: { type: 'unknown', samples: [] } };
        families.set(about, current.family);
      }
      if (current.meta.has(kind) || current.family.samples.length > 0) throw new Error(`misplaced: ${line}`);
      current.meta.set(kind, value);
      if (kind === 'UNIT' && !about.endsWith(`_${value}`)) throw new Error(`the name lacks the unit: ${line}`);
      if (kind !== 'TYPE') continue;
      if (value !== 'counter' && value !== 'gauge') throw new Error(`unexpected type: ${line}`);
      current.family = { ...current.family, type: value };
      families.set(about, current.family);
      continue;
    }
    const [, name, labels, number] = SAMPLE.exec(line) ?? [];
    if (name === undefined || number === undefined) throw new Error(`neither sample nor metadata: ${line}`);
    const suffix = current?.family.type === 'counter' ? '_total' : '';
    if (current === undefined || name !== `${current.name}${suffix}`) throw new Error(`of no family: ${line}`);
    const sample = { name, labels: labelsOf(labels), value: Number(number) };
    if (suffix !== '' && sample.value < 0) throw new Error(`a negative counter: ${line}`);
    const identity = JSON.stringify([name, Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    if (seen.has(identity)) throw new Error(`twice: ${line}`);
    seen.add(identity);
    current.family.samples.push(sample);
  }
  return families;
}

/** The counters of the text, by name and labels. */
export function countersOf(text: string): Map<string, number> {
  const families = [...parseOpenMetrics(text).values()].filter(({ type }) => type === 'counter');
  return new Map(
    families.flatMap(({ samples }) =>
      samples.map(({ name, labels, value }): [string, number] => [`${name}${JSON.stringify(labels)}`, value]),
    ),
  );
}
