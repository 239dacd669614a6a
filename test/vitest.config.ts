import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** esbuild bundles `.lua` files as text; the tests load them the same way. */
const luaAsText = {
  name: 'lua-as-text',
  load(id: string) {
    return id.endsWith('.lua') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : undefined;
  },
};

const project = (name: string, globalSetup: string[] = [], more: object = {}) => ({
  plugins: [luaAsText],
  test: {
    name,
    root: '.',
    include: [`test/${name}/**/*.test.ts`],
    globalSetup,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    ...more,
  },
});

export default defineConfig({
  test: {
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project('unit'),
      project('lua', ['test/support/shared-redis.ts']),
      project('infra'),
      // A stack is dozens of processes, mostly waiting: two at a time, and after everything else.
      project('integration', ['test/support/shared-redis.ts'], { maxWorkers: 2, sequence: { groupOrder: 1 } }),
      project('browser', [], { maxWorkers: 2, sequence: { groupOrder: 1 } }),
    ],
  },
});
