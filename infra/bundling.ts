import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DockerImage } from 'aws-cdk-lib';
import { AssetHashType, type ILocalBundling } from 'aws-cdk-lib/core';
import * as lambda from 'aws-cdk-lib/aws-lambda';

const folder = import.meta.dirname;

/** The CDK wants a bundle at once, esbuild takes plugins only when it may take its time: hence a process of its own. */
const builder = (name: string): ILocalBundling => ({
  tryBundle(outputDirectory) {
    const script = join(folder, 'bundle/run.ts');
    const { status, stderr } = spawnSync(process.execPath, [script, name, join(outputDirectory, 'index.mjs')], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return true;
  },
});

/** The code of `functions/<name>/handler.ts` and all it imports, the AWS SDK included, as one file. */
export const bundle = (name: string): lambda.Code =>
  lambda.Code.fromAsset(join(folder, '../functions', name), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: bundles are made on this machine. The type asks for one.
      image: DockerImage.fromRegistry('scratch'),
      local: builder(name),
    },
  });
