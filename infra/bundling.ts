import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DockerImage } from 'aws-cdk-lib';
import { AssetHashType, type ILocalBundling } from 'aws-cdk-lib/core';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { buildSync, type Metafile } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const KB = 1024;

/**
 * Most bytes of a bundle. Loading takes most of a cold start: 190 KB of Redis client cost 83 ms, 350 KB of AWS SDK
 * 120 to 155 ms, and zod in its large form alone would be 440 KB.
 */
const BUDGET = { plain: 330 * KB, withSdk: 700 * KB };

const kilobytes = (bytes: number) => Math.ceil(bytes / KB);

/** @throws Error naming bundle and size when the bundle of a function is over its budget. */
export function assertBudget(name: string, { inputs, outputs }: Metafile): void {
  const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
  const usesSdk = Object.keys(inputs).some((path) => path.includes('node_modules/@aws-sdk/'));
  const most = usesSdk ? BUDGET.withSdk : BUDGET.plain;
  if (bytes <= most) return;
  throw new Error(
    `Bundle "${name}" is ${kilobytes(bytes)} KB, expected at most ${kilobytes(most)} KB ${usesSdk ? 'with' : 'without'} the AWS SDK: see what it imports with esbuild --analyze`,
  );
}

const builder = (name: string): ILocalBundling => ({
  tryBundle(outputDirectory) {
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: [`functions/${name}/handler.ts`],
      outfile: `${outputDirectory}/index.mjs`,
      bundle: true,
      minify: true,
      metafile: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      // Packages that ship both are smaller as modules, since what is not used can be left out.
      mainFields: ['module', 'main'],
      loader: { '.lua': 'text' },
      alias: { '@aws-sdk/credential-provider-node': './functions/lib/lambda/credentials.ts' },
      // ioredis and the SDK have parts in the older format, which ask for Node's modules by `require`.
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    });
    assertBudget(name, metafile);
    return true;
  },
});

/** The code of `functions/<name>/handler.ts` and all it imports, the AWS SDK included, as one file. */
export const bundle = (name: string): lambda.Code =>
  lambda.Code.fromAsset(join(root, 'functions', name), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: the bundle is made by this process. The type asks for one.
      image: DockerImage.fromRegistry('scratch'),
      local: builder(name),
    },
  });
