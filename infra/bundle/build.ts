import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';

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

/** The job types of a user in the place of those that ship. */
const jobsOf = (entry: string): Plugin => ({
  name: 'jobs',
  setup(bundle) {
    bundle.onResolve({ filter: /^\.\/jobs\/index\.ts$/ }, ({ importer }) =>
      importer === join(root, 'functions/process/handler.ts') ? { path: entry } : undefined,
    );
  },
});

/** One module for Node 24, its scripts inlined. */
export const bundleShape = {
  bundle: true,
  logLevel: 'silent',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  plugins: [luaAsText],
} as const satisfies BuildOptions;

const shared = {
  ...bundleShape,
  absWorkingDir: root,
  metafile: true,
  // Packages that ship both are smaller as modules, since what is not used can be left out.
  mainFields: ['module', 'main'],
  alias: {
    '@aws-sdk/credential-provider-node': './functions/lib/lambda/credentials.ts',
    // However this package is installed: a second copy of its classes would not be recognised.
    'rota/jobs': './functions/process/jobs/index.ts',
  },
  // ioredis and the SDK have parts in the older format, which ask for Node's modules by `require`.
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
} satisfies BuildOptions;

/**
 * Makes `functions/<name>/handler.ts` and all it imports, the AWS SDK included, one file.
 *
 * @param jobs the module whose export `jobs` takes the place of the job types that ship.
 * @throws Error when it does not compile or, with nothing but what ships, is over its budget.
 */
export async function buildFunction(name: string, outfile: string, jobs?: string): Promise<void> {
  const { metafile } = await build({
    ...shared,
    entryPoints: [`functions/${name}/handler.ts`],
    outfile,
    minify: true,
    plugins: [luaAsText, ...(jobs === undefined ? [] : [jobsOf(jobs)])],
  });
  if (jobs === undefined) assertBudget(name, metafile);
}

/**
 * The job types that a module registers: the names in its export `jobs`.
 *
 * @throws Error when the module does not compile or load, or exports no registry.
 */
export async function readJobTypes(jobs: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rota-jobs-'));
  try {
    const outfile = join(folder, 'jobs.mjs');
    await build({ ...shared, entryPoints: [jobs], outfile, plugins: [luaAsText] });
    const module: unknown = await import(pathToFileURL(outfile).href);
    const registry: unknown = Object(module).jobs;
    if (typeof registry !== 'object' || registry === null) {
      throw new Error(`${jobs} exports no object jobs; expected { <type>: () => import('./<type>.ts'), … }`);
    }
    for (const [type, load] of Object.entries(registry)) {
      if (!/^[\w.-]{1,64}$/.test(type)) {
        throw new Error(
          `${jobs}: given the job type ${JSON.stringify(type)}, expected 1 to 64 letters, digits, _ . or -`,
        );
      }
      if (typeof load !== 'function') {
        throw new Error(
          `${jobs}: given ${typeof load} for the job type ${type}, expected a function that imports its module`,
        );
      }
    }
    return Object.keys(registry);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
