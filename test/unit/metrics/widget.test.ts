import { describe, expect, test } from 'vitest';
import { MetricStore } from '../../../infra/local/metrics/store.ts';
import { evaluateWidget } from '../../../infra/local/metrics/widget.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const window = { startMs: START, endMs: START + 3 * MINUTE, stepMs: MINUTE };

/** One value a minute: `undefined` leaves the minute out. */
function store(metrics: Record<string, (number | undefined)[]>): MetricStore {
  const filled = new MetricStore((problem) => expect.fail(problem));
  for (const [key, values] of Object.entries(metrics)) {
    const [name = '', tenant] = key.split('/');
    const dimensions = { queue: 'default', ...(tenant !== undefined && { tenant }) };
    for (const [minute, value] of values.entries()) {
      if (value === undefined) continue;
      filled.record({ namespace: 'Rota', name, dimensions, timeMs: START + minute * MINUTE + 5_000, value });
    }
  }
  return filled;
}

const drawn = (properties: object, filled: MetricStore) =>
  evaluateWidget({ period: 60, ...properties }, filled, window).lines.map(({ label, values }) => [label, ...values]);

const expressed = (expression: string, filled: MetricStore, more: object = {}) =>
  drawn(
    {
      metrics: [
        ['Rota', 'A', 'queue', 'default', { id: 'a', visible: false }],
        ['.', 'B', '.', '.', { id: 'b', visible: false }],
        [{ expression, label: 'e', ...more }],
      ],
    },
    filled,
  );

describe('rows', () => {
  test('repeat what stands above them', () => {
    const metrics = [
      ['Rota', 'TenantDepth', 'queue', 'default', 'tenant', 'acme', { label: 'acme' }],
      ['.', 'TenantServed', '.', '.', '.', '.', { label: 'served' }],
      ['...', 'globex', { label: 'globex' }],
    ];
    const filled = store({ 'TenantDepth/acme': [1], 'TenantServed/acme': [2], 'TenantServed/globex': [3] });
    expect(drawn({ metrics }, filled)).toEqual([
      ['acme', 1, undefined, undefined],
      ['served', 2, undefined, undefined],
      ['globex', 3, undefined, undefined],
    ]);
  });

  test('take statistic and period of their own before those of the widget', () => {
    const metrics = [
      ['Rota', 'A', 'queue', 'default', { label: 'sum' }],
      ['...', { stat: 'SampleCount', label: 'count' }],
      ['...', { period: 180, label: 'long' }],
    ];
    expect(drawn({ metrics, stat: 'Sum' }, store({ A: [1, 2, 4] }))).toEqual([
      ['sum', 1, 2, 4],
      ['count', 1, 1, 1],
      ['long', 1, 3, 7],
    ]);
  });

  test('of another dimension set are other metrics', () => {
    const filled = store({ 'Depth/acme': [1] });
    expect(drawn({ metrics: [['Rota', 'Depth', 'queue', 'default']] }, filled)).toEqual([
      ['Depth default', undefined, undefined, undefined],
    ]);
  });

  test.each([
    [{ metrics: [['Rota', 'A', 'queue']] }, /Widget "Panel": row .* must be namespace, metric name/],
    [{ metrics: [['Rota', 'A', { stat: 'Mean' }]] }, /Statistic "Mean": known are/],
    [{ metrics: [['Rota', 'A', { label: '${DAYS}' }]] }, /Label "\$\{DAYS\}"/],
    [{}, /no list of metrics/],
  ])('that are wrong are told of: %j', (properties, problem) => {
    expect(() => drawn({ title: 'Panel', ...properties }, store({ A: [1] }))).toThrow(problem);
  });
});

describe('statistics', () => {
  const filled = store({});
  for (let value = 1; value <= 200; value++) {
    filled.record({ namespace: 'Rota', name: 'A', dimensions: {}, timeMs: START + value, value });
  }
  test.each([
    ['Sum', 20_100],
    ['Average', 100.5],
    ['Minimum', 1],
    ['Maximum', 200],
    ['SampleCount', 200],
    ['p50', 100],
    ['p99.5', 199],
    ['p100', 200],
  ])('%s of 1 to 200', (stat, expected) => {
    expect(drawn({ metrics: [['Rota', 'A', { stat }]] }, filled)[0]?.[1]).toBe(expected);
  });
});

describe('expressions', () => {
  const filled = store({ A: [1, 2, undefined], B: [4, 0, 8] });

  test.each([
    ['a + b * 2', [9, 2, undefined]],
    ['(a + b) * 2', [10, 4, undefined]],
    ['-a ^ 2', [1, 4, undefined]],
    ['a / b', [0.25, undefined, undefined]],
    ['2 - 1 - 1 + a', [1, 2, undefined]],
    ['b > 3', [1, 0, 1]],
    ['b > 3 AND a == 1', [1, 0, undefined]],
    ['FILL(a, 0)', [1, 2, 0]],
    ['FILL(a, REPEAT)', [1, 2, 2]],
    ['FILL(a, b)', [1, 2, 8]],
    ['IF(b > 3, b, -1)', [4, -1, 8]],
    ['IF(b > 3, b)', [4, undefined, 8]],
    ['IF(FILL(a, 0) == 0, 1, 0)', [0, 0, 1]],
    ['SUM([a, b])', [5, 2, 8]],
    ['MAX(METRICS())', [4, 2, 8]],
    ['MIN(METRICS("b"))', [4, 0, 8]],
    ['MAX(b)', [8, 8, 8]],
    ['AVG([a, 3])', [2, 2.5, 3]],
    ['b / PERIOD(b)', [4 / 60, 0, 8 / 60]],
    ['DIFF(b)', [undefined, -4, 8]],
    ['RATE(b)', [undefined, -4 / 60, 8 / 60]],
    ['CEIL(b / 3)', [2, 0, 3]],
  ])('%s', (expression, expected) => {
    expect(expressed(expression, filled)).toEqual([['e', ...expected]]);
  });

  test.each([
    ['a +', /ends too early/],
    ['a b', /"b" is not expected there/],
    ['a ? b', /"\? b" is not expected there/],
    ['c', /no metric or expression has the id c/],
    ['ANOMALY_DETECTION_BAND(a)', /knows no function ANOMALY_DETECTION_BAND/],
    ['FILL(a, LINEAR)', /knows no FILL with LINEAR/],
    ["a + 'text'", /"text" stands where/],
  ])('%s is refused', (expression, problem) => {
    expect(() => expressed(expression, filled)).toThrow(problem);
  });

  test('refer to each other, in any order', () => {
    const metrics = [
      [{ expression: 'half * 4', id: 'twice', label: 'twice' }],
      [{ expression: 'a / 2', id: 'half', visible: false }],
      ['Rota', 'A', 'queue', 'default', { id: 'a', visible: false }],
    ];
    expect(drawn({ metrics }, filled)).toEqual([['twice', 2, 4, undefined]]);
    const circle = [[{ expression: 'y', id: 'x' }], [{ expression: 'x', id: 'y' }]];
    expect(() => drawn({ metrics: circle }, filled)).toThrow(/refers to itself/);
  });
});

describe('SEARCH', () => {
  const filled = store({
    'RealisedShare/acme': [0.5],
    'RealisedShare/other': [0.5],
    'EntitledShare/acme': [0.6],
    A: [1],
  });
  const found = (terms: string) =>
    expressed(`SEARCH('${terms}', 'Average', 60)`, filled, { label: '' }).map(([label]) => label);

  test.each([
    ['{Rota,queue,tenant} MetricName="RealisedShare"', ['acme', 'other']],
    ['{Rota,tenant,queue} MetricName="RealisedShare"', ['acme', 'other']],
    ['{Rota,queue} MetricName="RealisedShare"', []],
    ['{Rota} MetricName="EntitledShare"', ['acme']],
    ['{"Rota","queue","tenant"} MetricName="RealisedShare" NOT tenant="other"', ['acme']],
    ['{Rota,queue,tenant} share', ['acme', 'other', 'acme']],
    ['{Rota,queue,tenant} Real', []],
    ['{Rota,queue,tenant} MetricName="realisedshare"', []],
    ['{Rota,queue,tenant} MetricName=("RealisedShare" OR "EntitledShare") AND tenant=acme', ['acme', 'acme']],
    ['{Rota,queue,tenant} (tenant="other" OR MetricName="EntitledShare")', ['other', 'acme']],
  ])('%s', (terms, expected) => {
    expect(found(terms)).toEqual(expected);
  });

  test('labels what it finds by what tells it apart, and as dynamic labels say', () => {
    const search = `SEARCH('{Rota,queue,tenant} MetricName="RealisedShare"', 'Average', 60)`;
    const labels = (label: string) => expressed(search, filled, { label }).map(([text]) => text);
    expect(labels('realised')).toEqual(['realised acme', 'realised other']);
    expect(labels("${PROP('Dim.tenant')} (${PROP('MetricName')})")).toEqual([
      'acme (RealisedShare)',
      'other (RealisedShare)',
    ]);
  });

  test.each([
    ['{Rota queue}', /must stand in double quotes/],
    ['{Rota,queue} (tenant', /lacks a closing parenthesis/],
    ['', /neither a schema nor a term/],
  ])('%s is refused', (terms, problem) => {
    expect(() => found(terms)).toThrow(problem);
  });
});

test('windows that overlap hold what their period holds', () => {
  const filled = store({});
  for (let second = 0; second < 180; second += 10) {
    filled.record({ namespace: 'Rota', name: 'A', dimensions: {}, timeMs: START + second * 1_000, value: 1 });
  }
  const grid = { startMs: START + MINUTE, endMs: START + MINUTE + 30_000, stepMs: 10_000 };
  const { lines } = evaluateWidget({ period: 60, stat: 'Sum', metrics: [['Rota', 'A']] }, filled, grid);
  expect(lines[0]?.values).toEqual([6, 6, 6]);
});
