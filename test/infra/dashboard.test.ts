import { describe, expect, it } from 'vitest';
import { eventMetrics, queueMetrics, tenantMetrics } from '../../functions/lib/telemetry/metric-names.ts';
import { ofType, type Synthesized, synthesize } from './template.ts';
import { variants } from './variants.ts';

const standard = synthesize();
const asynchronous = synthesize({ ...variants.valkey, durability: 'async' });

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: Record<string, unknown>;
}

/** What only a deploy knows stands in it as its logical id. */
function bodyOf(stack: Synthesized): { widgets: Widget[] } {
  const [, dashboard] = ofType(stack, 'AWS::CloudWatch::Dashboard')[0] ?? [];
  const parts: unknown[] = dashboard?.Properties.DashboardBody['Fn::Join'][1];
  return JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : String(Object.values(Object(part)).flat()[0]))).join(''),
  );
}

const textOf = (stack: Synthesized) => JSON.stringify(bodyOf(stack));

describe.each(Object.entries({ standard, asynchronous }))('the dashboard (%s)', (_, stack) => {
  it('fills its grid of 24 columns without a hole or an overlap', () => {
    const cells = new Map<string, number>();
    const { widgets } = bodyOf(stack);
    const height = Math.max(...widgets.map((widget) => widget.y + widget.height));
    for (const { x, y, width, height: tall } of widgets) {
      for (let column = x; column < x + width; column++) {
        for (let row = y; row < y + tall; row++) {
          cells.set(`${column},${row}`, (cells.get(`${column},${row}`) ?? 0) + 1);
        }
      }
    }
    expect(new Set(cells.values())).toEqual(new Set([1]));
    expect(cells.size).toBe(24 * height);
  });

  it('shows every metric of the queue and of its tenants', () => {
    const text = textOf(stack);
    const names = [queueMetrics, tenantMetrics, eventMetrics].flatMap((table) =>
      Object.values(table).map(({ name }) => name),
    );
    expect(names.filter((name) => !text.includes(`"${name}"`) && !text.includes(`\\"${name}\\"`))).toEqual([]);
  });

  it('shows errors, throttles, duration and concurrency of every function', () => {
    const text = textOf(stack);
    for (const metric of ['Errors', 'Throttles', 'Duration', 'ConcurrentExecutions']) {
      for (const id of Object.values(stack.functions)) {
        expect(text).toContain(`["AWS/Lambda","${metric}","FunctionName","${id}"`);
      }
    }
  });

  it('shows the state of every alarm', () => {
    const [first] = bodyOf(stack).widgets;
    expect(first?.type).toBe('alarm');
    expect(first?.properties.alarms).toHaveLength(ofType(stack, 'AWS::CloudWatch::Alarm').length);
  });
});

it('shows realised beside entitled share on one panel', () => {
  const panels = bodyOf(standard).widgets.filter(({ properties }) =>
    JSON.stringify(properties).includes('EntitledShare'),
  );
  expect(panels).toHaveLength(1);
  expect(JSON.stringify(panels[0]?.properties)).toContain('RealisedShare');
});

it('is there only where it is wanted', () => {
  expect(ofType(synthesize({ dashboard: 'false' }), 'AWS::CloudWatch::Dashboard')).toEqual([]);
});

it('shows the lag of the write log only where there is one', () => {
  expect(textOf(standard)).not.toContain('DurabilityLag');
  expect(textOf(asynchronous)).toContain('DurabilityLag');
});

it('counts contributors over the lines that the functions log', () => {
  const rules = ofType(standard, 'AWS::CloudWatch::InsightRule').map(([, { Properties }]) => Properties);
  const names: string[] = rules.map(({ RuleName }) => String(RuleName).split('-').at(-1) ?? '');
  expect(names.toSorted()).toEqual(['TopRejected', 'TopServed', 'TopWait']);
});
