import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { DockerImage } from 'aws-cdk-lib';
import { AssetHashType, type ILocalBundling } from 'aws-cdk-lib/core';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { jobs } from '../functions/process/jobs/index.ts';

const folder = import.meta.dirname;

/** The CDK wants its answer at once, esbuild takes plugins only when it may take its time: hence a process of its own. */
function run(...task: string[]): string {
  const script = join(folder, 'bundle/run.ts');
  // With the flags of this process: an app that loads TypeScript by a loader needs it there too.
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, script, ...task], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const builder = (task: readonly string[]): ILocalBundling => ({
  tryBundle(outputDirectory) {
    const [name = '', ...more] = task;
    run('function', name, join(outputDirectory, 'index.mjs'), ...more);
    return true;
  },
});

/**
 * The code of `functions/<name>/handler.ts` and all it imports, the AWS SDK included, as one file.
 *
 * @param jobsEntry the module with the job types, in the place of those that ship.
 */
export function bundle(name: string, jobsEntry?: string): lambda.Code {
  const task = jobsEntry === undefined ? [name] : [name, jobsEntry];
  return lambda.Code.fromAsset(join(folder, '../functions', name), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: bundles are made on this machine. The type asks for one.
      image: DockerImage.fromRegistry('scratch'),
      // By its options the CDK knows a bundle that it has made before; the builder is none that it can compare.
      command: task,
      local: builder(task),
    },
  });
}

/**
 * The types of job that there is a handler for.
 *
 * @param jobsEntry absolute path of a module that exports `jobs`; without, the types that ship.
 * @throws Error when there is no such file, or its registry cannot be read.
 */
export function jobTypesOf(jobsEntry?: string): string[] {
  if (jobsEntry === undefined) return Object.keys(jobs);
  if (!isAbsolute(jobsEntry) || !existsSync(jobsEntry)) {
    throw new Error(
      `processor.entry is ${JSON.stringify(jobsEntry)}; it must be the absolute path of a file: join(import.meta.dirname, 'jobs.ts'), say`,
    );
  }
  const types: unknown = JSON.parse(run('job-types', jobsEntry));
  if (!Array.isArray(types) || types.length === 0) {
    throw new Error(`${jobsEntry} registers no job type; expected at least one in its export jobs`);
  }
  return types.map(String);
}
