import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { documentText, documentUrl } from '../../../functions/contract/generate.ts';
import type { Example, Route } from '../../../functions/lib/lambda/route.ts';
import { openApi } from '../../../functions/contract/openapi.ts';
import { routes } from '../../../functions/contract/routes.ts';
import { problems } from '../../../functions/lib/domain/problems.ts';

const examples: [string, Route, Example][] = routes.flatMap((route) =>
  route.examples.map((example): [string, Route, Example] => [`${route.operationId}, ${example.name}`, route, example]),
);

describe('the contract', () => {
  it('is committed as the route table says (else: npm run contract)', () => {
    expect(readFileSync(documentUrl, 'utf8')).toBe(documentText());
  });

  it('is an OpenAPI document, by the schema of its version', async () => {
    const validator = new Validator();
    expect(await validator.validate(openApi(routes, '1.0.0'))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it.each(examples)('has an example that keeps to it: %s', (_name, route, example) => {
    const parts = [
      [route.params, example.params],
      [route.query, example.query],
      [route.headers, example.headers],
      [route.body, example.body],
    ] as const;
    for (const [schema, given] of parts) {
      // One that shows a fault has it here.
      if (given === undefined || example.status === 400) continue;
      if (schema === undefined) throw new Error('the route takes nothing of the kind');
      expect(schema.safeParse(given).error?.issues).toBeUndefined();
    }
    const response = route.responses[example.status];
    if (response === undefined) throw new Error(`the route has no answer ${example.status}`);
    expect(response.schema.safeParse(example.answer).error?.issues).toBeUndefined();
  });

  it.each(routes.map((route): [string, Route] => [route.operationId, route]))(
    'shows each call at work: %s',
    (_name, route) => {
      expect(route.examples.some(({ status }) => status < 300)).toBe(true);
    },
  );

  it('names every problem that a call can be answered with', () => {
    const text = documentText();
    for (const code of Object.keys(problems)) {
      expect(text).toContain(`- urn:rota:problem:${code}\n`);
    }
  });
});
