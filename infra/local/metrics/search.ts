import type { MetricId } from './metric.ts';

/**
 * The metrics that a SEARCH finds, by the first argument of the function: an optional schema `{Namespace,Dimension,…}`,
 * which must be exactly the metric's, and terms, all of which must match. `Name="value"` wants the whole value of a
 * dimension or of `MetricName`; without quotes, or without a name, a term matches what contains it as whole words,
 * whatever their case. Terms combine with AND (or a space), OR, NOT and parentheses.
 *
 * Source: CloudWatch's search expression syntax.
 *
 * @throws Error with the text and what was expected where it is not of that syntax.
 */
export function searchMetrics(text: string, metrics: readonly MetricId[]): MetricId[] {
  const { schema, rest } = readSchema(text);
  const matches = new TermParser(rest, text).parse();
  if (!schema && !matches) throw new Error(`SEARCH(${text}) has neither a schema nor a term`);
  return metrics.filter((id) => (!schema || fits(id, schema)) && (!matches || matches(id)));
}

type Matcher = (id: MetricId) => boolean;

function readSchema(text: string): { schema: string[] | undefined; rest: string } {
  const [whole = '', inner] = /^\s*\{([^}]*)\}/.exec(text) ?? [];
  if (inner === undefined) return { schema: undefined, rest: text };
  const schema = inner.split(',').map((word) => word.trim());
  for (const word of schema) {
    // A name with anything else in it than letters, digits and what namespaces are built of must stand in quotes.
    if (!/^(?:"[^"]+"|[\w/.:#-]+)$/.test(word)) {
      throw new Error(`SEARCH(${text}): ${JSON.stringify(word)} must stand in double quotes in the schema`);
    }
  }
  return { schema: schema.map((word) => word.replaceAll('"', '')), rest: text.slice(whole.length) };
}

function fits({ namespace, dimensions }: MetricId, [wanted, ...names]: string[]): boolean {
  if (namespace !== wanted) return false;
  const own = Object.keys(dimensions);
  return names.length === 0 || (own.length === names.length && names.every((name) => own.includes(name)));
}

const TOKEN = /\s*(\(|\)|=|"[^"]*"|[^\s()="]+)/y;

class TermParser {
  readonly #tokens: string[] = [];
  readonly #text: string;

  constructor(terms: string, text: string) {
    this.#text = text;
    TOKEN.lastIndex = 0;
    const source = terms.trimEnd();
    while (TOKEN.lastIndex < source.length) {
      const at = TOKEN.lastIndex;
      const [, token] = TOKEN.exec(source) ?? [];
      if (token === undefined)
        throw new Error(`SEARCH(${text}) cannot be read from ${JSON.stringify(source.slice(at))}`);
      this.#tokens.push(token);
    }
  }

  parse(): Matcher | undefined {
    if (this.#tokens.length === 0) return undefined;
    const matcher = this.#any();
    if (this.#tokens.length > 0) this.#fail(this.#tokens[0]);
    return matcher;
  }

  #any(): Matcher {
    const choices = [this.#all()];
    while (this.#tokens[0] === 'OR') {
      this.#tokens.shift();
      choices.push(this.#all());
    }
    return (id) => choices.some((matches) => matches(id));
  }

  #all(): Matcher {
    const conditions = [this.#one()];
    while (this.#tokens.length > 0 && this.#tokens[0] !== 'OR' && this.#tokens[0] !== ')') {
      if (this.#tokens[0] === 'AND') this.#tokens.shift();
      conditions.push(this.#one());
    }
    return (id) => conditions.every((matches) => matches(id));
  }

  #one(): Matcher {
    const token = this.#tokens.shift();
    if (token === 'NOT') {
      const matches = this.#one();
      return (id) => !matches(id);
    }
    if (token === '(') {
      const matches = this.#any();
      if (this.#tokens.shift() !== ')') throw new Error(`SEARCH(${this.#text}) lacks a closing parenthesis`);
      return matches;
    }
    if (token === undefined || token === ')' || token === '=') return this.#fail(token);
    if (this.#tokens[0] !== '=')
      return termMatcher(token, (id) => [id.name, id.namespace, ...Object.values(id.dimensions)]);
    this.#tokens.shift();
    const value = this.#tokens.shift();
    if (value === '(') return this.#choices(token);
    if (value === undefined) return this.#fail(value);
    return termMatcher(value, valuesOf(token));
  }

  /** `Name=("a" OR "b")` */
  #choices(name: string): Matcher {
    const choices: Matcher[] = [];
    for (;;) {
      const value = this.#tokens.shift();
      if (value === undefined) return this.#fail(value);
      choices.push(termMatcher(value, valuesOf(name)));
      const next = this.#tokens.shift();
      if (next === ')') return (id) => choices.some((matches) => matches(id));
      if (next !== 'OR') return this.#fail(next);
    }
  }

  #fail(token: string | undefined): never {
    throw new Error(`SEARCH(${this.#text}): ${token === undefined ? 'it ends too early' : `unexpected ${token}`}`);
  }
}

function valuesOf(name: string): (id: MetricId) => string[] {
  const bare = name.replaceAll('"', '');
  if (bare === 'MetricName') return (id) => [id.name];
  if (bare === 'Namespace') return (id) => [id.namespace];
  return ({ dimensions }) => [dimensions[bare] ?? []].flat();
}

function termMatcher(term: string, values: (id: MetricId) => string[]): Matcher {
  if (term.startsWith('"')) {
    const whole = term.slice(1, -1);
    return (id) => values(id).includes(whole);
  }
  const wanted = wordsOf(term);
  return (id) => values(id).some((value) => containsRun(wordsOf(value), wanted));
}

/** Words as the service tells them apart: at other characters than letters and digits, and at changes to upper case. */
function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2');
  return apart
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

function containsRun(words: readonly string[], run: readonly string[]): boolean {
  return words.some((_, at) => run.every((word, i) => words[at + i] === word));
}
