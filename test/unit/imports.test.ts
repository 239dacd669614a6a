import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** A folder may import from itself and from what stands before it. */
const LAYERS = ['lua', 'functions/lib', 'functions', 'infra', 'test'];

const layerOf = (path: string) => LAYERS.findIndex((layer) => path.startsWith(`${layer}/`));

it('imports go one way: lua, functions/lib, functions, infra, test', () => {
  const files = globSync('{functions,infra,test,lua}/**/*.ts', { exclude: ['**/node_modules/**'] });
  expect(files.length).toBeGreaterThan(100);
  const backwards = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)]
      .map(([, path]) => normalize(join(dirname(file), path ?? '')))
      .filter((target) => layerOf(target) > layerOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  expect(backwards).toEqual([]);
});

it('the domain and the configuration import nothing of the rest of the library', () => {
  const files = globSync('functions/lib/{domain,config}/**/*.ts');
  const outward = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)]
      .map(([, path]) => normalize(join(dirname(file), path ?? '')))
      .filter((target) => !/^functions\/lib\/(domain|config)\//.test(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(outward).toEqual([]);
});
