import { OTHER } from '../../../functions/lib/telemetry/metric-names.ts';
import type { Widget } from '../metrics/dashboards.ts';
import type { Grid } from '../metrics/metric.ts';
import type { MetricStore } from '../metrics/store.ts';
import { evaluateWidget, type WidgetLine } from '../metrics/widget.ts';
import { isObject, textOf } from '../template.ts';
import { tenantOf } from './labels.ts';
import type { AxisView, LineView, WidgetView } from './view.ts';

/** Without the rows of alarm states: the page shows all alarms, and more of them, at its top. */
export function withoutAlarms(widgets: readonly Widget[]): Widget[] {
  const alarms = widgets.filter(({ type }) => type === 'alarm');
  const above = ({ y }: Widget) => alarms.filter((alarm) => alarm.y < y).reduce((sum, { height }) => sum + height, 0);
  return widgets.filter(({ type }) => type !== 'alarm').map((widget) => ({ ...widget, y: widget.y - above(widget) }));
}

/** A widget as the page draws it. What only AWS can evaluate says so instead of standing empty. */
export function viewWidget(widget: Widget, store: MetricStore, window: Omit<Grid, 'periodMs'>): WidgetView {
  const { type, x, y, width, height, properties } = widget;
  const placed = { title: textOf(properties.title), x, y, width, height };
  // The template has graphs only; a dashboard of your own in the same stack may have more.
  if (type !== 'metric' || properties.metrics === undefined) {
    return { ...placed, kind: 'elsewhere', why: `A widget of type ${type} without metrics: drawn on AWS only.` };
  }
  const { lines } = evaluateWidget(properties, store, window);
  const axes = isObject(properties.yAxis) ? properties.yAxis : {};
  return {
    ...placed,
    kind: 'chart',
    lines: lines.map(viewLine),
    left: axisOf(axes.left),
    rightLabel: axisOf(axes.right).label,
  };
}

/** With the tenant as people know it in place of the label that stands for it. */
function viewLine({ label, of, axis, row, values }: WidgetLine): LineView {
  const tenant = of === null ? null : tenantOf(of);
  return {
    label: of === null || tenant === null ? label : label.replace(of, () => tenant),
    tenant,
    other: of === OTHER,
    axis,
    row,
    values: values.map((value) => value ?? null),
  };
}

function axisOf(axis: unknown): AxisView {
  const { label, min, max } = isObject(axis) ? axis : {};
  return { label: textOf(label), min: numberOf(min), max: numberOf(max) };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
