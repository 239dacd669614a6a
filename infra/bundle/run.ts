import { buildFunction } from './build.ts';

const [name = '', outfile = ''] = process.argv.slice(2);
try {
  await buildFunction(name, outfile);
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
