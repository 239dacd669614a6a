import { describe, expect, test } from 'vitest';
import { judge } from '../../../infra/local/metrics/alarm-rule.ts';

/** 0 is a good point, X a breaching one, - a missing one. */
const points = (text: string) => text.split(' ').map((point) => ({ '0': 0, X: 2 })[point]);

const TREATMENTS = ['missing', 'ignore', 'breaching', 'notBreaching'];

/** The states by treatment; `CURRENT` where the alarm keeps the one it is in. */
function states(datapointsToAlarm: number, text: string): string[] {
  return TREATMENTS.map((treatMissingData) => {
    const rule = { threshold: 1, comparison: 'GreaterThanThreshold', evaluationPeriods: 3, datapointsToAlarm };
    const from = (current: 'OK' | 'ALARM') => judge({ ...rule, treatMissingData }, points(text), current).state;
    return from('OK') === from('ALARM') ? from('OK') : 'CURRENT';
  });
}

describe("an alarm comes to the states of the tables in CloudWatch's user guide", () => {
  test.each([
    ['0 - X - X', 'OK', 'OK', 'OK', 'OK'],
    ['0 - - - -', 'OK', 'OK', 'OK', 'OK'],
    ['- - - - -', 'INSUFFICIENT_DATA', 'CURRENT', 'ALARM', 'OK'],
    ['0 X X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['- - X - -', 'ALARM', 'CURRENT', 'ALARM', 'OK'],
    ['- - - - X', 'INSUFFICIENT_DATA', 'CURRENT', 'ALARM', 'OK'],
    ['X - - - -', 'ALARM', 'CURRENT', 'ALARM', 'OK'],
  ])('3 out of 3: %s', (text, ...expected) => {
    expect(states(3, text)).toEqual(expected);
  });

  test.each([
    ['0 - X - X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['0 0 X 0 X', 'ALARM', 'ALARM', 'ALARM', 'ALARM'],
    ['0 - X - -', 'OK', 'OK', 'ALARM', 'OK'],
    ['- - - - 0', 'OK', 'OK', 'ALARM', 'OK'],
    ['- - - X -', 'ALARM', 'CURRENT', 'ALARM', 'OK'],
  ])('2 out of 3: %s', (text, ...expected) => {
    expect(states(2, text)).toEqual(expected);
  });
});

test.each([
  ['GreaterThanThreshold', ['OK', 'OK', 'ALARM']],
  ['GreaterThanOrEqualToThreshold', ['OK', 'ALARM', 'ALARM']],
  ['LessThanThreshold', ['ALARM', 'OK', 'OK']],
  ['LessThanOrEqualToThreshold', ['ALARM', 'ALARM', 'OK']],
])('%s compares 0, 1 and 2 with 1', (comparison, expected) => {
  const rule = { threshold: 1, comparison, evaluationPeriods: 1, datapointsToAlarm: 1, treatMissingData: 'missing' };
  expect([0, 1, 2].map((value) => judge(rule, [value], 'OK').state)).toEqual(expected);
});

test('says why it is in its state', () => {
  const rule = { threshold: 1, comparison: 'GreaterThanThreshold', evaluationPeriods: 3, datapointsToAlarm: 2 };
  expect(judge({ ...rule, treatMissingData: 'breaching' }, points('- - - 0 X'), 'OK').reason).toBe(
    '1 of the last 2 points were above 1, 1 missing (breaching); 2 of 3 fire it',
  );
});

test.each([
  [{ comparison: 'LessThanLowerThreshold' }, /LessThanLowerThreshold: known are/],
  [{ treatMissingData: 'forget' }, /TreatMissingData is forget/],
])('refuses what it does not know: %j', (change, problem) => {
  const rule = { threshold: 1, comparison: 'LessThanThreshold', evaluationPeriods: 1, datapointsToAlarm: 1 };
  expect(() => judge({ ...rule, treatMissingData: 'missing', ...change }, [1], 'OK')).toThrow(problem);
});
