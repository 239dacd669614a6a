import { messageOf } from './errors.ts';
import type { LambdaService } from './lambda-service.ts';
import type { Call, Permissions } from './permissions.ts';
import { isObject, type Template, textOf } from './template.ts';

export interface Schedule {
  name: string;
  /** ARN of the function that it invokes. */
  target: string;
  /** ARN of the role that the scheduler invokes with, or undefined for an event rule (which the function must admit). */
  roleArn: string | undefined;
  /** The event, as JSON text. */
  input: string;
  /** The time of the first firing after `now`, both in ms since the epoch. */
  next: (now: number) => number;
}

const UNIT_MS: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * The enabled schedules of the template (EventBridge Scheduler and event rules).
 *
 * @throws Error naming the schedule when its expression is not one that the runner can follow.
 */
export function readSchedules(template: Template): Schedule[] {
  const schedules = template.resources('AWS::Scheduler::Schedule').map(({ id, name, properties }) => {
    const target = isObject(properties.Target) ? properties.Target : {};
    return { id, name, properties, target, roleArn: textOf(target.RoleArn) };
  });
  const rules = template.resources('AWS::Events::Rule').flatMap(({ id, name, properties }) => {
    const targets: unknown[] = Array.isArray(properties.Targets) ? properties.Targets : [];
    return targets.filter(isObject).map((target) => ({ id, name, properties, target, roleArn: undefined }));
  });
  return [...schedules, ...rules]
    .filter(({ properties }) => properties.State !== 'DISABLED' && properties.ScheduleExpression !== undefined)
    .map(({ id, properties, target, roleArn, name }) => ({
      name,
      roleArn,
      target: textOf(target.Arn),
      input: textOf(target.Input) || '{}',
      next: parseExpression(id, textOf(properties.ScheduleExpression)),
    }));
}

function parseExpression(id: string, expression: string): (now: number) => number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return (now) => now + Number(count) * unitMs;
  const [, minutes = '', hours = ''] = /^cron\((\S+) (\S+) [*?] \* [*?] \*\)$/.exec(expression) ?? [];
  const minuteSet = parseField(minutes, 60);
  const hourSet = parseField(hours, 24);
  if (!minuteSet || !hourSet) {
    throw new Error(
      `Schedule ${id}: the local runner follows rate(…) and cron(minutes hours * * ? *), not ${expression}`,
    );
  }
  return (now) => {
    const time = new Date(Math.floor(now / 60_000) * 60_000);
    do time.setTime(time.getTime() + 60_000);
    while (!minuteSet.has(time.getUTCMinutes()) || !hourSet.has(time.getUTCHours()));
    return time.getTime();
  };
}

/** `*`, `5`, `1,31`, `0/15` or `*\/15` as the set of values it stands for. */
function parseField(field: string, size: number): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [, first = '', step] = /^(\*|\d+)(?:\/(\d+))?$/.exec(part) ?? [];
    if (first === '') return undefined;
    const start = first === '*' ? 0 : Number(first);
    const every = step ? Number(step) : first === '*' ? 1 : size;
    for (let value = start; value < size; value += every) values.add(value);
  }
  return values;
}

/** Fires schedules: rates at once and then at their rate (so that nothing waits a minute after a start), crons on time. */
export class Scheduler {
  readonly #lambda: LambdaService;
  readonly #permissions: Permissions;
  readonly #onProblem: (line: string) => void;
  readonly #schedules: Schedule[];
  readonly #timers = new Map<Schedule, NodeJS.Timeout>();

  constructor(
    schedules: Schedule[],
    options: { lambda: LambdaService; permissions: Permissions; onProblem: (line: string) => void },
  ) {
    this.#schedules = schedules;
    this.#lambda = options.lambda;
    this.#permissions = options.permissions;
    this.#onProblem = options.onProblem;
  }

  start(): void {
    for (const schedule of this.#schedules) {
      this.#fire(schedule);
      this.#arm(schedule);
    }
  }

  /**
   * Fires every schedule that has this name or whose target function has.
   *
   * @throws Error when there is none.
   */
  fire(name: string): void {
    const target = this.#lambda.find(name)?.arn;
    const matching = this.#schedules.filter((schedule) => schedule.name === name || schedule.target === target);
    if (matching.length === 0) throw new Error(`No schedule is named ${name} and none invokes a function of that name`);
    for (const schedule of matching) this.#fire(schedule);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #arm(schedule: Schedule): void {
    const now = Date.now();
    const timer = setTimeout(() => {
      this.#fire(schedule);
      this.#arm(schedule);
    }, schedule.next(now) - now);
    this.#timers.set(schedule, timer);
  }

  #fire(schedule: Schedule): void {
    this.#invoke(schedule).catch((error: unknown) => this.#onProblem(messageOf(error)));
  }

  async #invoke({ name, target, roleArn, input }: Schedule): Promise<void> {
    const declared = this.#lambda.find(target);
    if (!declared) {
      this.#onProblem(`Schedule ${name}: ${target} is no function of the template`);
      return;
    }
    const [, , , region, accountId] = declared.arn.split(':');
    const invoke = { action: 'lambda:InvokeFunction', resource: declared.arn };
    const context = (sourceArn: string) => ({ 'aws:SourceArn': sourceArn, 'aws:SourceAccount': `${accountId}` });
    const calls: Call[] =
      roleArn === undefined
        ? [
            {
              caller: 'events.amazonaws.com',
              ...invoke,
              context: context(`arn:aws:events:${region}:${accountId}:rule/${name}`),
            },
          ]
        : [
            {
              caller: 'scheduler.amazonaws.com',
              action: 'sts:AssumeRole',
              resource: roleArn,
              context: context(`arn:aws:scheduler:${region}:${accountId}:schedule-group/default`),
            },
            { caller: roleArn.split('/').at(-1) ?? '', ...invoke },
          ];
    const allowed = await Promise.all(calls.map(async (call) => await this.#permissions.allows(call)));
    if (!allowed.includes(false)) this.#lambda.queue(declared.name).accept(input);
    else this.#onProblem(`Schedule ${name} may not invoke ${declared.name}: nothing in the template allows it`);
  }
}
