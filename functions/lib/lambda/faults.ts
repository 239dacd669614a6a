import type * as z from 'zod/mini';
import { assertNever } from '../domain/outcomes.ts';
import type { Fault } from '../domain/problems.ts';

type Issue = z.core.$ZodIssue;

/** More are not told: a body of a megabyte could make an answer that Lambda refuses. */
export const FAULTS_MAX = 1_000;

const SHOWN_MAX = 40;

/** A short form of what was given. Goes into the answer to who gave it, never into a log. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'given null';
  if (Array.isArray(value)) return `given an array of ${value.length}`;
  if (typeof value === 'object') return 'given an object';
  if (typeof value === 'number') return `given ${value}`;
  const text = JSON.stringify(value);
  return `given ${text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text}`;
}

const article: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return article[issue.expected] ?? issue.expected;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${units[issue.origin] ?? ''}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${units[issue.origin] ?? ''}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'custom':
    case 'invalid_format':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return issue.message;
    default:
      return assertNever(issue);
  }
}

const atPath = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );

/** A path as one would write it in code: `jobs[3].cost`, `["odd name"]`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = String(key);
    if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');

/** What a schema found wrong with a part of a request, one fault for each field; at most 1,000. */
export function faultsOf(part: Fault['in'], given: unknown, issues: readonly Issue[]): Fault[] {
  const faults: Fault[] = [];
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, FAULTS_MAX)) {
        faults.push({ in: part, path: pathText([...issue.path, key]), detail: 'there is no such field' });
      }
    } else {
      const detail = `${shown(atPath(given, issue.path))}, expected ${expected(issue)}`;
      faults.push({ in: part, path: pathText(issue.path), detail });
    }
    if (faults.length >= FAULTS_MAX) break;
  }
  return faults.slice(0, FAULTS_MAX);
}
