import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

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

/**
 * A script without its comments and indentation, a quarter of it; line numbers stay, since Redis names them in its errors.
 *
 * @throws Error for a long string or comment, of which a line could be mistaken for a comment.
 */
export function slimLua(source: string): string {
  if (/\[=*\[/.test(source))
    throw new Error('A Lua file has [[ or [=[ in it, expected quoted strings and -- comments only');
  return source
    .split('\n')
    .map((line) => (/^\s*--/.test(line) ? '' : line.trim()))
    .join('\n');
}

const luaAsText: Plugin = {
  name: 'lua-as-text',
  setup(bundle) {
    bundle.onLoad({ filter: /\.lua$/ }, async ({ path }) => ({
      contents: slimLua(await readFile(path, 'utf8')),
      loader: 'text',
    }));
  },
};

/** One module for Node 24, its scripts inlined. */
export const bundleShape = {
  bundle: true,
  logLevel: 'silent',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  plugins: [luaAsText],
} as const satisfies BuildOptions;

/**
 * Makes `functions/<name>/handler.ts` and all it imports, the AWS SDK included, one file.
 *
 * @throws Error when it does not compile or is over its budget.
 */
export async function buildFunction(name: string, outfile: string): Promise<void> {
  const { metafile } = await build({
    ...bundleShape,
    absWorkingDir: root,
    entryPoints: [`functions/${name}/handler.ts`],
    outfile,
    minify: true,
    metafile: true,
    // Packages that ship both are smaller as modules, since what is not used can be left out.
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': './functions/lib/lambda/credentials.ts' },
    // ioredis and the SDK have parts in the older format, which ask for Node's modules by `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  assertBudget(name, metafile);
}
