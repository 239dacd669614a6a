import { expect, it } from 'vitest';
import { synthesize } from './template.ts';
import { variants } from './variants.ts';

it.each(Object.entries(variants))("passes CloudFormation's rules (%s)", (_, settings) => {
  expect(() => synthesize(settings, { rules: true })).not.toThrow();
});
