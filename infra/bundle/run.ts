import { buildFunction, readJobTypes } from './build.ts';

const [task, ...given] = process.argv.slice(2);
try {
  if (task === 'job-types') {
    const [jobs = ''] = given;
    process.stdout.write(JSON.stringify(await readJobTypes(jobs)));
  } else {
    const [name = '', outfile = '', jobs] = given;
    await buildFunction(name, outfile, jobs);
  }
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
