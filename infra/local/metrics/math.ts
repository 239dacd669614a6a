import { AGGREGATES, type Line, type Lines, type Scope, type Value } from './math-values.ts';
import { type Node, parseMath } from './math-syntax.ts';

const NUMERIC: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '^': (a, b) => a ** b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '&&': (a, b) => Number(a !== 0 && b !== 0),
  AND: (a, b) => Number(a !== 0 && b !== 0),
  '||': (a, b) => Number(a !== 0 || b !== 0),
  OR: (a, b) => Number(a !== 0 || b !== 0),
};

const ROUNDING: Record<string, (value: number) => number> = { ABS: Math.abs, CEIL: Math.ceil, FLOOR: Math.floor };

/**
 * Evaluates a metric math expression over the lines of its scope. Known are numbers, ids, `+ - * / ^`, comparisons, AND and
 * OR, and the functions ABS, AVG, CEIL, DIFF, FILL, FLOOR, IF, MAX, METRICS, MIN, PERIOD, RATE, REMOVE_EMPTY, SEARCH and SUM.
 *
 * Source: CloudWatch's metric math syntax. A point that any operand lacks is lacking in the result; a division by 0 too.
 *
 * @throws Error that names the expression, and what in it is not known.
 */
export function evaluateMath(expression: string, scope: Scope): Value {
  return evaluate(parseMath(expression), { ...scope, expression });
}

interface Context extends Scope {
  readonly expression: string;
}

function evaluate(node: Node, context: Context): Value {
  switch (node.kind) {
    case 'number':
      return node.value;
    case 'text':
      return fail(context, `${JSON.stringify(node.value)} stands where a number or a metric is wanted`);
    case 'id':
      return context.resolve(node.name) ?? fail(context, `no metric or expression has the id ${node.name}`);
    case 'list':
      return node.items.flatMap((item) => linesOf(evaluate(item, context), context));
    case 'negative':
      return map(evaluate(node.of, context), (value) => -value);
    case 'binary':
      return binary(node.operator, evaluate(node.left, context), evaluate(node.right, context), context);
    case 'call':
      return call(node.name, node.args, context);
    default:
      throw new Error(`No such node: ${JSON.stringify(node satisfies never)}`);
  }
}

function call(name: string, args: Node[], context: Context): Value {
  const [first, second, third] = args;
  const value = (node: Node | undefined) =>
    node ? evaluate(node, context) : fail(context, `${name} lacks an argument`);
  const aggregate = AGGREGATES[name];
  if (aggregate) return combine(value(first), aggregate, context);
  const rounding = ROUNDING[name];
  if (rounding) return map(value(first), rounding);
  switch (name) {
    case 'METRICS':
      return context.metrics(first ? textOf(first, context) : undefined);
    case 'SEARCH':
      return context.search(textOf(first, context), textOf(second, context), third && numberOf(value(third), context));
    case 'FILL':
      return fill(linesAt(value(first), context), second, context);
    case 'IF':
      return choose(value(first), value(second), third && value(third), context);
    case 'PERIOD':
      return context.grid.periodMs / 1_000;
    case 'DIFF':
      return each(value(first), (line) => differences(line, 1), context);
    case 'RATE':
      return each(value(first), (line) => differences(line, context.grid.stepMs / 1_000), context);
    case 'REMOVE_EMPTY':
      return linesOf(value(first), context).filter(({ values }) => values.some((point) => point !== undefined));
    default:
      return fail(context, `the local runner knows no function ${name}`);
  }
}

function fail(context: Context, reason: string): never {
  throw new Error(`Expression ${JSON.stringify(context.expression)}: ${reason}`);
}

function linesOf(value: Value, context: Context): Line[] {
  if (typeof value === 'number') return [{ label: '', values: context.times.map(() => value) }];
  return isList(value) ? [...value] : [value];
}

/** One line, or a list of lines; a number is neither. */
function linesAt(value: Value, context: Context): Line | Lines {
  return typeof value === 'number' ? fail(context, 'a number stands where a metric is wanted') : value;
}

function each(value: Value, change: (line: Line) => (number | undefined)[], context: Context): Value {
  const lines = linesAt(value, context);
  const changed = (line: Line): Line => ({ ...line, values: change(line) });
  return isList(lines) ? lines.map(changed) : changed(lines);
}

function isList(value: Line | Lines): value is Lines {
  return Array.isArray(value);
}

function map(value: Value, change: (value: number) => number): Value {
  if (typeof value === 'number') return change(value);
  const changed = (line: Line): Line => ({
    ...line,
    values: line.values.map((v) => (v === undefined ? v : change(v))),
  });
  return isList(value) ? value.map(changed) : changed(value);
}

function binary(operator: string, left: Value, right: Value, context: Context): Value {
  const operate = NUMERIC[operator] ?? fail(context, `no operator ${operator}`);
  const point = (a: number | undefined, b: number | undefined) => {
    const result = a === undefined || b === undefined ? undefined : operate(a, b);
    return Number.isFinite(result) ? result : undefined;
  };
  if (typeof left === 'number' && typeof right === 'number') return operate(left, right);
  const pair = (a: Line, b: Line): Line => ({
    label: a.label || b.label,
    values: a.values.map((v, i) => point(v, b.values[i])),
  });
  const [lefts, rights] = [linesOf(left, context), linesOf(right, context)];
  if (!Array.isArray(left) && !Array.isArray(right)) {
    const [a, b] = [lefts[0], rights[0]];
    return a && b ? pair(a, b) : [];
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    if (lefts.length !== rights.length)
      fail(context, `lists of ${lefts.length} and ${rights.length} metrics do not pair`);
    return lefts.map((a, i) => pair(a, rights[i] ?? a));
  }
  const [one] = Array.isArray(left) ? rights : lefts;
  if (!one) return [];
  return Array.isArray(left)
    ? lefts.map((a) => pair(a, one))
    : rights.map((b) => ({ ...pair(one, b), label: b.label }));
}

function present(values: readonly (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
}

/** Of a list, point by point over its lines; of one line, over its points. */
function combine(value: Value, aggregate: (values: number[]) => number, context: Context): Value {
  if (typeof value === 'number') return value;
  if (!isList(value)) {
    const points = present(value.values);
    const result = points.length > 0 ? aggregate(points) : undefined;
    return { ...value, values: value.values.map(() => result) };
  }
  return {
    label: '',
    values: context.times.map((_, i) => {
      const points = present(value.map(({ values }) => values[i]));
      return points.length > 0 ? aggregate(points) : undefined;
    }),
  };
}

function fill(value: Line | Lines, by: Node | undefined, context: Context): Value {
  if (by?.kind === 'id' && by.name === 'REPEAT') {
    return each(
      value,
      ({ values }) => {
        let last: number | undefined;
        return values.map((point) => (last = point ?? last));
      },
      context,
    );
  }
  if (by?.kind === 'id' && by.name === 'LINEAR') fail(context, 'the local runner knows no FILL with LINEAR');
  const filler = by ? evaluate(by, context) : fail(context, 'FILL lacks what to fill with');
  const at = (i: number) => (typeof filler === 'number' ? filler : linesOf(filler, context)[0]?.values[i]);
  return each(value, ({ values }) => values.map((point, i) => point ?? at(i)), context);
}

/** Without an else, points where the condition does not hold are left out. */
function choose(condition: Value, yes: Value, no: Value | undefined, context: Context): Value {
  if (typeof condition === 'number') return condition === 0 ? (no ?? []) : yes;
  const [test] = linesOf(condition, context);
  const at = (value: Value | undefined, i: number) =>
    value === undefined || typeof value === 'number' ? value : linesOf(value, context)[0]?.values[i];
  const values = (test?.values ?? []).map((point, i) =>
    point === undefined ? undefined : at(point === 0 ? no : yes, i),
  );
  return { label: '', values };
}

function differences({ values }: Line, divisor: number): (number | undefined)[] {
  let last: { value: number; at: number } | undefined;
  return values.map((value, at) => {
    if (value === undefined) return undefined;
    const change = last && (value - last.value) / (divisor === 1 ? 1 : divisor * (at - last.at));
    last = { value, at };
    return change;
  });
}

function textOf(node: Node | undefined, context: Context): string {
  return node?.kind === 'text' ? node.value : fail(context, 'a text in quotes is wanted');
}

function numberOf(value: Value, context: Context): number {
  return typeof value === 'number' ? value : fail(context, 'a number is wanted');
}
