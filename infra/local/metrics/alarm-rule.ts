export type State = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

export interface AlarmRule {
  readonly threshold: number;
  /** One of CloudWatch's four operators of a fixed threshold. */
  readonly comparison: string;
  readonly evaluationPeriods: number;
  /** How many of the evaluated points must breach. */
  readonly datapointsToAlarm: number;
  /** `missing`, `ignore`, `breaching` or `notBreaching` */
  readonly treatMissingData: string;
}

const COMPARISONS: Record<string, { holds: (value: number, threshold: number) => boolean; words: string }> = {
  GreaterThanOrEqualToThreshold: { holds: (value, threshold) => value >= threshold, words: 'at or above' },
  GreaterThanThreshold: { holds: (value, threshold) => value > threshold, words: 'above' },
  LessThanThreshold: { holds: (value, threshold) => value < threshold, words: 'below' },
  LessThanOrEqualToThreshold: { holds: (value, threshold) => value <= threshold, words: 'at or below' },
};

/**
 * The state of an alarm by its last points, oldest first, more of them than are evaluated. The newest points that exist are
 * evaluated; only where they are too few, what is missing counts as the alarm says.
 *
 * Source: CloudWatch's user guide, "How alarm state is evaluated when data is missing" and "Avoiding premature transitions
 * to alarm state".
 *
 * @throws Error naming a comparison or a treatment of missing data that is not known.
 */
export function judge(
  rule: AlarmRule,
  points: readonly (number | undefined)[],
  current: State,
): { state: State; reason: string } {
  const { evaluationPeriods, datapointsToAlarm, treatMissingData: treat, threshold } = rule;
  const comparison = COMPARISONS[rule.comparison];
  if (!comparison)
    throw new Error(`ComparisonOperator ${rule.comparison}: known are ${Object.keys(COMPARISONS).join(', ')}`);
  if (!['missing', 'ignore', 'breaching', 'notBreaching'].includes(treat)) {
    throw new Error(`TreatMissingData is ${treat}; it must be missing, ignore, breaching or notBreaching`);
  }
  const present = points.filter((point) => point !== undefined);
  const evaluated = present.slice(-evaluationPeriods);
  const breaching = evaluated.filter((point) => comparison.holds(point, threshold)).length;
  const lacking = evaluationPeriods - evaluated.length;
  const says = (state: State, missing: number) => ({
    state,
    reason:
      `${breaching} of the last ${evaluated.length} points were ${comparison.words} ${threshold}` +
      `${missing > 0 ? `, ${missing} missing (${treat})` : ''}; ${datapointsToAlarm} of ${evaluationPeriods} fire it`,
  });

  if (lacking > 0 && treat === 'breaching') {
    return says(breaching + lacking >= datapointsToAlarm ? 'ALARM' : 'OK', lacking);
  }
  if (breaching >= datapointsToAlarm) return says('ALARM', lacking);
  if (lacking === 0 || treat === 'notBreaching' || breaching < evaluated.length) return says('OK', lacking);
  // Too few points, and none of them is good: only `missing` and `ignore` come here.
  if (treat === 'ignore') return says(current, lacking);
  const age = points.length - points.findIndex((point) => point !== undefined);
  // A breach as old as the points it takes to fire, and nothing good since: waiting for more would never end.
  return says(evaluated.length > 0 && age >= datapointsToAlarm ? 'ALARM' : 'INSUFFICIENT_DATA', lacking);
}

/** What an alarm waits for, in words. */
export function conditionOf(rule: AlarmRule, periodSeconds: number): string {
  const { comparison, threshold, datapointsToAlarm, evaluationPeriods } = rule;
  const words = COMPARISONS[comparison]?.words ?? comparison;
  const period = periodSeconds % 60 === 0 ? `${periodSeconds / 60} min` : `${periodSeconds} s`;
  return `${words} ${threshold} in ${datapointsToAlarm} of ${evaluationPeriods} periods of ${period}`;
}
