import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { CACHE_FOLDER } from '../../infra/local/redis-server.ts';

/** Without a display, a graphics card or a network of its own. */
const FLAGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-background-networking',
  '--font-render-hinting=none',
];

/**
 * Starts a real Chromium: the one that comes with the packages (Linux on x86-64, unpacked once), or the one that `CHROMIUM`
 * names.
 *
 * @throws Error that says what to set where there is none.
 */
export async function startBrowser(): Promise<Browser> {
  const { CHROMIUM: given } = process.env;
  if (given) return await chromium.launch({ executablePath: given, args: FLAGS });
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `No Chromium comes along for ${process.platform} on ${process.arch}: set CHROMIUM to the path of one`,
    );
  }
  const folder = await unpacked();
  return await chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: FLAGS,
    env: {
      ...process.env,
      // Its own libraries and fonts: what a machine has differs, and a picture should not.
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      LANG: 'en_US.UTF-8',
    },
  });
}

async function unpacked(): Promise<string> {
  const bin = fileURLToPath(new URL('../bin', import.meta.resolve('@sparticuz/chromium')));
  const { version }: { version: string } = JSON.parse(await readFile(join(bin, '../package.json'), 'utf8'));
  const folder = join(CACHE_FOLDER, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE_FOLDER, { recursive: true });
  const work = await mkdtemp(join(CACHE_FOLDER, 'unpacking-'));
  try {
    await inTemporaryFolder(work, () =>
      Promise.all(['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((file) => inflate(join(bin, file)))),
    );
    await writeFile(
      join(work, 'fonts.conf'),
      `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
    );
    // Whole or not at all: another process may unpack the same, and this one may be killed on the way.
    await rename(work, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

/** The package unpacks into the system's folder for temporary files, which it asks for when it begins. */
async function inTemporaryFolder<T>(folder: string, begin: () => Promise<T>): Promise<T> {
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  const begun = begin();
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  return await begun;
}
