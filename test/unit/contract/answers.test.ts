import { expect, test } from 'vitest';
import { expectDocumented } from '../../support/contract.ts';

const json = { 'content-type': 'application/json', 'apigw-requestid': 'a' };
const problem = { 'content-type': 'application/problem+json', 'apigw-requestid': 'a' };
const accepted = { tenant: 'acme', jobs: [{ id: '0-1' }], depth: 1 };
const unavailable = {
  type: 'urn:rota:problem:unavailable',
  title: 'The queue cannot be reached',
  status: 503,
  detail: 'try again',
  requestId: 'a',
};

const check = (status: number, headers: Record<string, string>, body: unknown, call = 'POST /v1/jobs') => {
  const [method = '', path = ''] = call.split(' ');
  return () => expectDocumented(method, path, { status, headers: new Headers(headers), body });
};

test('takes what the contract has', () => {
  expect(check(202, json, accepted)).not.toThrow();
  expect(check(503, { ...problem, 'retry-after': '2' }, unavailable)).not.toThrow();
  expect(check(503, json, { message: 'Service Unavailable' })).not.toThrow();
  expect(check(404, json, { message: 'Not Found' }, 'GET /v1/nothing?x=/v1/jobs')).not.toThrow();
});

test.each<[string, () => void]>([
  ['status', check(201, json, accepted)],
  ['field', check(202, json, { ...accepted, eta: 5 })],
  ['missing field', check(202, json, { tenant: 'acme', jobs: [] })],
  ['kind of value', check(202, json, { ...accepted, depth: '1' })],
  ['problem', check(503, { ...problem, 'retry-after': '2' }, { ...unavailable, type: 'urn:rota:problem:asleep' })],
  ['member of a problem', check(503, { ...problem, 'retry-after': '2' }, { ...unavailable, stack: 'at' })],
  ['problem without its header', check(503, problem, unavailable)],
  ['answer without the id of the request', check(202, { 'content-type': 'application/json' }, accepted)],
  ['header', check(202, { ...json, 'retry-after': '1' }, accepted)],
  ['media type', check(202, { ...json, 'content-type': 'text/html' }, accepted)],
  ['method', check(202, json, accepted, 'PUT /v1/jobs')],
  ['path', check(200, json, accepted, 'GET /v1/nothing')],
  ['body of the gateway', check(401, json, { error: 'Unauthorized' })],
])('does not take another %s', (_name, checked) => {
  expect(checked).toThrow(/the contract|without the header/);
});
