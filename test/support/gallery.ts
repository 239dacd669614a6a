import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { afterAll } from 'vitest';

const APP = join(import.meta.dirname, '../infra/foreign-app/app.ts');

/**
 * Synthesizes the app that embeds the queue, bundles included, from a folder that has nothing to do with this
 * repository, and returns the folder of its assembly.
 *
 * @param context of the app
 * @throws Error with what the app printed, when it refuses
 */
export async function synthesizeGallery(context: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rota-gallery-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const env = { ...process.env, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: JSON.stringify(context) };
  await promisify(execFile)(process.execPath, [APP], { cwd: tmpdir(), env });
  return folder;
}
