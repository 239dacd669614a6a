import { join } from 'node:path';
import { build } from 'esbuild';

/** The page's own script and style, libraries included: it fetches nothing from anywhere else. */
export async function bundlePage(): Promise<{ script: string; style: string }> {
  const folder = join(import.meta.dirname, 'page');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.ts'), join(folder, 'page.css')],
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  });
  const text = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { script: text('.js'), style: text('.css') };
}
