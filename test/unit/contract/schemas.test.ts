import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { count, documented } from '../../../functions/contract/schemas.ts';

it('leaves alone what it describes: many fields share a schema, and each has words of its own', () => {
  const before = z.globalRegistry.get(count);
  const described = documented(count, { description: 'Jobs of this field alone.' });
  expect(z.globalRegistry.get(described)).toMatchObject({ description: 'Jobs of this field alone.' });
  expect(z.globalRegistry.get(count)).toEqual(before);
});
