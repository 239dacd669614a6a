import { expect, it } from 'vitest';
import { atPath, JSON_PATH, nameAt } from '../../../functions/lib/domain/path.ts';

it.each([
  ['a', 1],
  ['b.c[1].d', 'x'],
  ['b.c[1]', { d: 'x' }],
  ['b.c[9].d', undefined],
  ['a.b', undefined],
  ['constructor', undefined],
  ['b.length', undefined],
])('finds what stands at %s', (path, found) => {
  expect(atPath({ a: 1, b: { c: [0, { d: 'x' }] } }, path)).toEqual(found);
});

it('reads a name that is text or a whole number', () => {
  expect(nameAt({ a: 'x' }, 'a')).toBe('x');
  expect(nameAt({ a: 42 }, 'a')).toBe('42');
  for (const a of [1.5, 2 ** 60, null, true, {}, []]) expect(nameAt({ a }, 'a')).toBeUndefined();
});

it('has a form', () => {
  for (const path of ['account_id', 'account.id', 'args[0].account_id', 'a[0][1]'])
    expect(JSON_PATH.test(path)).toBe(true);
  for (const path of ['', '.a', 'a.', 'a[]', '[0]', 'a b', '$.a[*]']) expect(JSON_PATH.test(path)).toBe(false);
});
