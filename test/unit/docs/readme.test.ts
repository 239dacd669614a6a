import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { jobs } from '../../../functions/process/jobs/index.ts';
import { withSettings } from '../../../infra/docs/settings-table.ts';

const readme = readFileSync('README.md', 'utf8');

describe('README', () => {
  it('lists every setting as the code has it (npm run docs makes it so)', () => {
    expect(readme).toBe(withSettings(readme));
  });

  it('names every job type that ships', () => {
    for (const type of Object.keys(jobs)) expect(readme).toContain(`\`${type}`);
  });
});
