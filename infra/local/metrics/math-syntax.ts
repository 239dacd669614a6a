/** A metric math expression, read. */
export type Node =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'id'; readonly name: string }
  | { readonly kind: 'list'; readonly items: Node[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: Node[] }
  | { readonly kind: 'negative'; readonly of: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Node; readonly right: Node };

/** Loosest first; what stands together binds alike, from the left (but `^`, from the right). */
const LEVELS = [
  ['||', 'OR'],
  ['&&', 'AND'],
  ['==', '!=', '<', '>', '<=', '>='],
  ['+', '-'],
  ['*', '/'],
];

const TOKEN = /\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|'[^']*'|"[^"]*"|\|\||&&|[=!<>]=|[-+*/^<>(),[\]])/y;

/** @throws Error with the expression and where it stops being one. */
export function parseMath(expression: string): Node {
  return new Parser(expression).parse();
}

class Parser {
  readonly #expression: string;
  readonly #tokens: string[] = [];

  constructor(expression: string) {
    this.#expression = expression;
    const source = expression.trimEnd();
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.length) {
      const at = TOKEN.lastIndex;
      const [, token] = TOKEN.exec(source) ?? [];
      if (token === undefined) this.#fail(source.slice(at).trim());
      this.#tokens.push(token);
    }
  }

  parse(): Node {
    const node = this.#level(0);
    if (this.#tokens.length > 0) this.#fail(this.#tokens[0]);
    return node;
  }

  #level(level: number): Node {
    const operators = LEVELS[level];
    if (!operators) return this.#power();
    let left = this.#level(level + 1);
    for (;;) {
      const [operator] = this.#tokens;
      if (operator === undefined || !operators.includes(operator)) return left;
      this.#tokens.shift();
      left = { kind: 'binary', operator, left, right: this.#level(level + 1) };
    }
  }

  #power(): Node {
    const left = this.#unary();
    if (this.#tokens[0] !== '^') return left;
    this.#tokens.shift();
    return { kind: 'binary', operator: '^', left, right: this.#power() };
  }

  #unary(): Node {
    const token = this.#tokens.shift();
    if (token === undefined) this.#fail(undefined);
    if (token === '-') return { kind: 'negative', of: this.#unary() };
    if (token === '(') {
      const inner = this.#level(0);
      this.#expect(')');
      return inner;
    }
    if (token === '[') return { kind: 'list', items: this.#items(']') };
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (/^['"]/.test(token)) return { kind: 'text', value: token.slice(1, -1) };
    if (!/^\w/.test(token)) this.#fail(token);
    if (this.#tokens[0] !== '(') return { kind: 'id', name: token };
    this.#tokens.shift();
    return { kind: 'call', name: token.toUpperCase(), args: this.#items(')') };
  }

  #items(end: string): Node[] {
    const items: Node[] = [];
    if (this.#tokens[0] === end) {
      this.#tokens.shift();
      return items;
    }
    for (;;) {
      items.push(this.#level(0));
      const next = this.#tokens.shift();
      if (next === end) return items;
      if (next !== ',') this.#fail(next);
    }
  }

  #expect(wanted: string): void {
    const token = this.#tokens.shift();
    if (token !== wanted) this.#fail(token);
  }

  #fail(token: string | undefined): never {
    const what = token === undefined ? 'it ends too early' : `${JSON.stringify(token)} is not expected there`;
    throw new Error(`Expression ${JSON.stringify(this.#expression)}: ${what}`);
  }
}
