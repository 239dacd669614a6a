import { describe, expect, it } from 'vitest';
import { type ElementRules, readElement, writeElement } from '../../../functions/migrate/element.ts';

const rules: ElementRules = {
  format: 'resque',
  tenantPath: 'args[0].account_id',
  types: { 'Import::Job': 'import' },
  knownTypes: null,
  maxAttempts: 5,
};
const read = (text: string, given: Partial<ElementRules> = {}) => readElement(text, { ...rules, ...given });

describe('an element of Resque', () => {
  const text = '{"class":"Import::Job","args":[{"account_id":42,"rows":[1,2.50]}]}';

  it('is a job whose payload is the whole element, digit by digit', () => {
    expect(read(` ${text} \n`)).toEqual({
      tenant: '42',
      job: { type: 'import', payload: text, delayMs: 0, cost: 1, maxAttempts: 5, timeoutSeconds: 0 },
    });
  });

  it('goes back as it came', () => {
    const found = read(text);
    if ('reason' in found) throw new Error(found.reason);
    expect(writeElement('resque', { tenant: '42', readySinceMs: 0, ...found.job })).toBe(text);
  });

  it('may have its tenant by position', () => {
    expect(read('{"class":"A","args":["t-1",{}]}', { tenantPath: 'args[0]' })).toMatchObject({ tenant: 't-1' });
  });

  it.each([
    ['nonsense', 'not JSON'],
    ['{"class":"A","args":[{}]}', 'no tenant at args[0].account_id'],
    ['{"class":"A","args":[{"account_id":1.5}]}', 'no tenant at args[0].account_id'],
    ['{"class":"A","args":[{"account_id":"a\\u0000"}]}', 'no control characters'],
    ['{"args":[{"account_id":1}]}', 'no job type'],
    [`{"class":"A","args":[{"account_id":1,"x":"${'x'.repeat(262_144)}"}]}`, 'more than 262144 bytes'],
    ['[]', 'no tenant'],
  ])('is rejected with the reason: %.40s', (element, reason) => {
    expect(read(element)).toEqual({ reason: expect.stringContaining(reason) });
  });

  it('is rejected when its type is none of those known', () => {
    expect(read(text, { knownTypes: ['import'] })).toMatchObject({ tenant: '42' });
    expect(read(text, { knownTypes: ['other'] })).toEqual({ reason: 'unknown job type import' });
  });
});

it('an element of BullMQ is a job with its data and attempts', () => {
  const text = '{"id":"7","name":"import","data":{"account":{"id":"acme"}},"opts":{"attempts":3}}';
  expect(read(text, { format: 'bullmq', tenantPath: 'account.id' })).toMatchObject({
    tenant: 'acme',
    job: { type: 'import', payload: '{"account":{"id":"acme"}}', maxAttempts: 3 },
  });
});

it('a line of JSON says all of it, and comes back as such a line', () => {
  const line = '{"tenant":"né:1","type":"echo","payload":[1],"cost":2,"delaySeconds":1.5,"maxAttempts":2}';
  const found = read(line, { format: 'jsonl' });
  expect(found).toMatchObject({
    tenant: 'né:1',
    job: { type: 'echo', payload: '[1]', cost: 2, delayMs: 1_500, maxAttempts: 2 },
  });
  if ('reason' in found) throw new Error(found.reason);
  const written = writeElement('jsonl', { tenant: found.tenant, readySinceMs: Date.now() + 60_000, ...found.job });
  expect(JSON.parse(written)).toEqual({
    tenant: 'né:1',
    type: 'echo',
    payload: [1],
    cost: 2,
    maxAttempts: 2,
    delaySeconds: expect.closeTo(60, 0),
  });
});

it('a job that never was of Resque becomes an element of it', () => {
  const job = { tenant: 'acme', type: 'echo', payload: '{"a":1}', maxAttempts: 5, cost: 1, readySinceMs: 0 };
  expect(writeElement('resque', job)).toBe('{"class":"echo","args":[{"a":1}]}');
});
