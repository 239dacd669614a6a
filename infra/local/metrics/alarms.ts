import { isObject, type JsonObject, type Resource, type Template, textOf } from '../template.ts';
import { type AlarmRule, conditionOf, judge, type State } from './alarm-rule.ts';
import { completePeriods } from './metric.ts';
import { evaluateQueries, type Query } from './queries.ts';
import type { MetricStore } from './store.ts';

export interface AlarmState {
  readonly name: string;
  readonly description: string;
  readonly state: State;
  /** When it came into this state, in ms since the epoch; an alarm begins with INSUFFICIENT_DATA. */
  readonly sinceMs: number;
  readonly reason: string;
  /** What it waits for, in words. */
  readonly condition: string;
  /** ARNs of what it tells when it fires. */
  readonly actions: readonly string[];
}

interface Alarm {
  readonly name: string;
  readonly description: string;
  readonly actions: readonly string[];
  readonly queries: readonly Query[];
  /** Position of the query that is compared with the threshold. */
  readonly watched: number;
  readonly periodMs: number;
  readonly rule: AlarmRule;
  state: State;
  sinceMs: number;
  reason: string;
}

/** CloudWatch looks at so many more periods than it evaluates, to have enough where some are missing. */
const MORE_PERIODS = 2;

/**
 * The alarms of the template, each with its state. It changes when somebody evaluates: what happens between is not seen.
 *
 * Source: CloudWatch's user guide, "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data".
 */
export class Alarms {
  readonly #alarms: Alarm[];
  readonly #store: MetricStore;

  /** @throws Error naming an alarm that uses what is not known here, or what no alarm may have (SEARCH). */
  constructor(template: Template, store: MetricStore, nowMs = Date.now()) {
    this.#store = store;
    this.#alarms = template.resources('AWS::CloudWatch::Alarm').map((resource) => readAlarm(resource, nowMs));
    this.evaluate(nowMs);
  }

  /** Evaluates every alarm as CloudWatch would at that time, over the periods complete by then. */
  evaluate(nowMs = Date.now()): AlarmState[] {
    return this.#alarms.map((alarm) => {
      const { state, reason } = judge(alarm.rule, this.#points(alarm, nowMs), alarm.state);
      if (state !== alarm.state) alarm.sinceMs = nowMs;
      alarm.state = state;
      alarm.reason = reason;
      const { name, description, actions, sinceMs, rule, periodMs } = alarm;
      return { name, description, state, sinceMs, reason, condition: conditionOf(rule, periodMs / 1_000), actions };
    });
  }

  #points({ name, queries, watched, periodMs, rule }: Alarm, nowMs: number): (number | undefined)[] {
    const grid = completePeriods(nowMs, periodMs, rule.evaluationPeriods + MORE_PERIODS);
    try {
      const [line, ...others] = evaluateQueries(queries, grid, this.#store)[watched] ?? [];
      if (!line || others.length > 0) throw new Error('its expression is not of one line');
      return [...line.values];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Alarm ${name}: ${reason}`, { cause: error });
    }
  }
}

function readAlarm({ name, properties }: Resource, nowMs: number): Alarm {
  const number = (property: string): number => {
    const value = Number(properties[property] ?? NaN);
    if (Number.isNaN(value)) throw new Error(`Alarm ${name}: ${property} is ${JSON.stringify(properties[property])}`);
    return value;
  };
  const list: unknown[] = Array.isArray(properties.Metrics) ? properties.Metrics : [];
  const items = list.filter(isObject);
  const queries = items.length > 0 ? items.map(readItem) : [readSingle(properties)];
  if (queries.some((query) => 'expression' in query && /\bSEARCH\s*\(/i.test(query.expression))) {
    throw new Error(`Alarm ${name}: an alarm cannot use SEARCH`);
  }
  const watched = items.length > 1 ? items.findIndex(({ ReturnData }) => ReturnData !== false) : 0;
  const evaluationPeriods = number('EvaluationPeriods');
  return {
    name,
    description: textOf(properties.AlarmDescription),
    actions: Array.isArray(properties.AlarmActions) ? properties.AlarmActions.map(textOf) : [],
    queries,
    watched,
    periodMs: Math.max(...queries.map(({ periodMs }) => periodMs)),
    rule: {
      threshold: number('Threshold'),
      comparison: textOf(properties.ComparisonOperator),
      evaluationPeriods,
      datapointsToAlarm: Number(properties.DatapointsToAlarm ?? evaluationPeriods),
      treatMissingData: textOf(properties.TreatMissingData) || 'missing',
    },
    state: 'INSUFFICIENT_DATA',
    sinceMs: nowMs,
    reason: 'Not evaluated yet',
  };
}

function readItem(item: JsonObject): Query {
  const { MetricStat: stat } = item;
  const label = item.Label === undefined ? undefined : textOf(item.Label);
  const id = textOf(item.Id);
  if (!isObject(stat))
    return { id, label, expression: textOf(item.Expression), periodMs: Number(item.Period ?? 60) * 1_000 };
  const metric = isObject(stat.Metric) ? stat.Metric : {};
  return {
    id,
    label,
    metric: {
      namespace: textOf(metric.Namespace),
      name: textOf(metric.MetricName),
      dimensions: readDimensions(metric),
    },
    statistic: textOf(stat.Stat),
    periodMs: Number(stat.Period) * 1_000,
  };
}

function readSingle(properties: JsonObject): Query {
  return {
    id: undefined,
    label: undefined,
    metric: {
      namespace: textOf(properties.Namespace),
      name: textOf(properties.MetricName),
      dimensions: readDimensions(properties),
    },
    statistic: textOf(properties.Statistic ?? properties.ExtendedStatistic),
    periodMs: Number(properties.Period) * 1_000,
  };
}

function readDimensions({ Dimensions: dimensions }: JsonObject): Record<string, string> {
  const list: unknown[] = Array.isArray(dimensions) ? dimensions : [];
  return Object.fromEntries(list.filter(isObject).map(({ Name, Value }) => [textOf(Name), textOf(Value)]));
}
