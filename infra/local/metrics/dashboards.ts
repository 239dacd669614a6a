import { isObject, type JsonObject, type Template, textOf } from '../template.ts';
import { evaluateWidget } from './widget.ts';
import { MetricStore } from './store.ts';

/** A widget of a dashboard body, in the body's grid of 24 columns. */
export interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: JsonObject;
}

export interface Dashboard {
  readonly name: string;
  /** The range that it shows at first, as a body gives it (`-PT3H`). */
  readonly start: string;
  readonly widgets: readonly Widget[];
}

/**
 * The dashboards of the template.
 *
 * @throws Error naming the dashboard whose body is no JSON, or the widget that uses what is not known here.
 */
export function readDashboards(template: Template): Dashboard[] {
  return template.resources('AWS::CloudWatch::Dashboard').map(({ name, properties }) => {
    const body = parseBody(name, textOf(properties.DashboardBody));
    const widgets = (Array.isArray(body.widgets) ? body.widgets : []).filter(isObject).map(readWidget);
    // What is not known here should fail at the start, not when somebody looks.
    const nothing = new MetricStore(() => undefined);
    for (const { type, properties: shown } of widgets) {
      if (type === 'metric' && shown.metrics !== undefined) {
        evaluateWidget(shown, nothing, { startMs: 0, endMs: 60_000, stepMs: 60_000 });
      }
    }
    return { name, start: textOf(body.start) || '-PT3H', widgets };
  });
}

function parseBody(name: string, text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {
    // Told below.
  }
  throw new Error(`Dashboard ${name}: its body is no JSON object`);
}

function readWidget({ type, x, y, width, height, properties }: JsonObject): Widget {
  return {
    type: textOf(type),
    x: Number(x ?? 0),
    y: Number(y ?? 0),
    width: Number(width ?? 6),
    height: Number(height ?? 6),
    properties: isObject(properties) ? properties : {},
  };
}
