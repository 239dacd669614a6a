import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { removeAtEnd, runGuarded } from './children.ts';
import { codeOf } from './errors.ts';
import { isObject, type JsonObject } from './template.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, '.cache/synth');

/** What the template and the bundles are made from. */
const SOURCES = ['functions', 'lua', 'infra', 'cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];
const NOT_SOURCES = ['infra/local', 'infra/docs'];

const KEPT_ASSEMBLIES = 10;

/**
 * Synthesizes the stack with `context` added to that of cdk.json, as `cdk synth -c key=value` would, and returns the
 * folder of the cloud assembly. The same sources and context give the same folder again without a synth.
 *
 * @throws Error with what the app printed when it refuses.
 */
export async function synthesize(context: Record<string, string>, onProgress: (line: string) => void): Promise<string> {
  const settings: unknown = JSON.parse(await readFile(join(ROOT, 'cdk.json'), 'utf8'));
  const base = isObject(settings) && isObject(settings.context) ? settings.context : {};
  // The app lets jobs reach this machine without the network that the stack would need for it.
  const whole = { ...base, 'rota:local': 'true', ...context };
  const folder = join(CACHE, await fingerprint(whole));
  if (await exists(join(folder, 'manifest.json'))) {
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  onProgress('Synthesizing the stack and bundling the functions (3 to 6 s; kept until a source changes)');
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'work-'));
  removeAtEnd(work);
  try {
    await runApp(work, whole);
    await rename(work, folder).catch((error: unknown) => {
      // Another process has synthesized the same meanwhile.
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await prune();
  return folder;
}

async function runApp(outdir: string, context: JsonObject): Promise<void> {
  const env = {
    ...process.env,
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify(context),
    // The rules of CloudFormation would double the time, and `cdk synth` checks them before anything is deployed.
    CDK_VALIDATION: 'false',
  };
  await runGuarded(process.execPath, [join(ROOT, 'infra/app.ts')], { cwd: ROOT, env });
}

async function fingerprint(context: JsonObject): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(context)).update(process.version);
  for (const source of SOURCES) await addFiles(hash, join(ROOT, source));
  return hash.digest('hex').slice(0, 20);
}

async function addFiles(hash: ReturnType<typeof createHash>, path: string): Promise<void> {
  const name = relative(ROOT, path);
  if (NOT_SOURCES.includes(name) || !(await exists(path))) return;
  if ((await stat(path)).isDirectory()) {
    for (const entry of (await readdir(path)).toSorted()) await addFiles(hash, join(path, entry));
  } else {
    hash.update(`\0${name}\0`).update(await readFile(path));
  }
}

/** Removes the assemblies that were used least lately. */
async function prune(): Promise<void> {
  const names = await readdir(CACHE);
  const aged = await Promise.all(
    names.map(async (name) => ({ name, usedAt: (await stat(join(CACHE, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const old = aged.toSorted((a, b) => b.usedAt - a.usedAt).slice(KEPT_ASSEMBLIES);
  await Promise.all(old.map(({ name }) => rm(join(CACHE, name), { recursive: true, force: true })));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
