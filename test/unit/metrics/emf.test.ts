import { describe, expect, test } from 'vitest';
import { parseEmf } from '../../../infra/local/metrics/emf.ts';

const NOW = 1_900_000_000_000;

interface Directive {
  Namespace?: unknown;
  Dimensions?: unknown;
  Metrics?: unknown;
}

const line = (members: object, directive: Directive = {}, timestamp: unknown = NOW) =>
  JSON.stringify({
    _aws: {
      Timestamp: timestamp,
      CloudWatchMetrics: [{ Namespace: 'Rota', Dimensions: [['queue']], Metrics: [{ Name: 'Depth' }], ...directive }],
    },
    queue: 'default',
    ...members,
  });

const metrics = (count: number) => Array.from({ length: count }, (_, i) => ({ Name: `M${i}` }));
const values = (count: number) => Object.fromEntries(metrics(count).map(({ Name }) => [Name, 1]));

function read(text: string) {
  const problems: string[] = [];
  return { data: parseEmf(text, (problem) => problems.push(problem), NOW), problems };
}

test('takes the value, its time and its dimensions', () => {
  expect(read(line({ Depth: 7 }))).toEqual({
    data: [{ namespace: 'Rota', name: 'Depth', dimensions: { queue: 'default' }, timeMs: NOW, value: 7 }],
    problems: [],
  });
});

test('makes a value of each item of a list, for each dimension set', () => {
  const { data } = read(line({ Depth: [1, 2], tenant: 'acme' }, { Dimensions: [['queue'], ['queue', 'tenant'], []] }));
  expect(data.map(({ dimensions, value }) => [dimensions, value])).toEqual([
    [{ queue: 'default' }, 1],
    [{ queue: 'default' }, 2],
    [{ queue: 'default', tenant: 'acme' }, 1],
    [{ queue: 'default', tenant: 'acme' }, 2],
    [{}, 1],
    [{}, 2],
  ]);
});

test.each(['START RequestId: 1', '{"level":"INFO","message":"\\"_aws\\""}', '{"_aws":1}', '"_aws" {'])(
  'finds nothing in a line that is no record: %s',
  (text) => {
    expect(read(text)).toEqual({ data: [], problems: [] });
  },
);

describe('does not take, and tells of, a record', () => {
  test.each<[string, string, RegExp]>([
    ['of 101 metrics', line(values(101), { Metrics: metrics(101) }), /101 metrics; at most 100/],
    ['with 101 values', line({ Depth: Array.from({ length: 101 }, () => 1) }), /101 values; at most 100/],
    ['whose metric is missing', line({}), /Depth is undefined; it must be a number/],
    ['whose metric is text', line({ Depth: '7' }), /Depth is "7"; it must be a number/],
    ['whose dimension is missing', line({ Depth: 1, queue: undefined }), /dimension queue is undefined/],
    ['whose dimension is not ASCII', line({ Depth: 1, queue: 'zürich' }), /must be ASCII/],
    ['whose dimension is a number', line({ Depth: 1, queue: 3 }), /must be a text/],
    ['without a namespace', line({ Depth: 1 }, { Namespace: '' }), /Namespace is missing/],
    ['of two weeks ago', line({ Depth: 1 }, {}, NOW - 15 * 86_400_000), /two weeks old/],
    ['of three hours ahead', line({ Depth: 1 }, {}, NOW + 3 * 3_600_000), /two hours ahead/],
    ['stamped in words', line({ Depth: 1 }, {}, 'now'), /Timestamp is "now"/],
  ])('%s', (_, text, problem) => {
    const { data, problems } = read(text);
    expect(data).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test('but one of exactly 100 metrics is taken', () => {
    expect(read(line(values(100), { Metrics: metrics(100) })).data).toHaveLength(100);
  });
});
