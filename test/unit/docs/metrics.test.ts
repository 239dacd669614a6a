import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withMetrics } from '../../../infra/docs/metrics-table.ts';

const page = readFileSync('infra/docs/metrics.md', 'utf8');

it('the page of the metrics lists every one as the code has it (npm run docs makes it so)', () => {
  expect(page).toBe(withMetrics(page));
});
