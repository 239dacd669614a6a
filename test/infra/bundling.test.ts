import { buildSync, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { assertBudget, slimLua } from '../../infra/bundle/build.ts';

const bundleOf = (contents: string): Metafile =>
  buildSync({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    outfile: 'index.mjs',
  }).metafile;

const filler = (kilobytes: number) => `console.log(${JSON.stringify('x'.repeat(kilobytes * 1024))});`;
const withSdk = `import { InvokeCommand } from '@aws-sdk/client-lambda'; console.log(InvokeCommand);`;

describe('the budget of a bundle', () => {
  it('is 330 KB without the AWS SDK', () => {
    expect(() => assertBudget('enqueue', bundleOf(filler(329)))).not.toThrow();
    expect(() => assertBudget('enqueue', bundleOf(filler(330)))).toThrow(
      'Bundle "enqueue" is 331 KB, expected at most 330 KB without the AWS SDK',
    );
  });

  it('is 700 KB with it', () => {
    const metafile = bundleOf(withSdk + filler(1));
    const outputs = (bytes: number) =>
      Object.fromEntries(Object.entries(metafile.outputs).map(([path, output]) => [path, { ...output, bytes }]));
    expect(() => assertBudget('dispatch', { ...metafile, outputs: outputs(700 * 1024) })).not.toThrow();
    expect(() => assertBudget('dispatch', { ...metafile, outputs: outputs(700 * 1024 + 1) })).toThrow(
      'Bundle "dispatch" is 701 KB, expected at most 700 KB with the AWS SDK',
    );
  });
});

describe('a script in a bundle', () => {
  it('has lost its comments and indentation, and kept its lines', () => {
    expect(slimLua("-- why\nlocal a = '--' -- what\n  if a then\n    -- why\n    return 1\n  end\n")).toBe(
      "\nlocal a = '--' -- what\nif a then\n\nreturn 1\nend\n",
    );
  });

  it('is refused when a line of it could be no comment', () => {
    expect(() => slimLua('local a = [[\n-- text\n]]')).toThrow('expected quoted strings');
  });
});
