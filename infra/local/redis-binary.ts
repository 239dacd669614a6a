import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runGuarded } from './children.ts';
import { codeOf, messageOf } from './errors.ts';

/** How to run a Redis or Valkey server: the executable, and the library folder it needs when it is not installed. */
export interface RedisBinary {
  command: string;
  env: Record<string, string>;
}

const SERVERS = ['redis-server', 'valkey-server'];

// `#!lua flags=allow-oom` in a script header came with 7.0.
const OLDEST_MAJOR = 7;

const INSTALL_HINT = `Rota needs redis-server or valkey-server, version ${OLDEST_MAJOR} or newer, on the PATH. Install one of them and start again:
  Debian, Ubuntu   sudo apt-get install redis-server
  Fedora           sudo dnf install valkey
  Alpine           sudo apk add valkey
  macOS            brew install redis`;

/**
 * Finds a Redis server of version 7 or newer: on the PATH, else the distribution's package (Debian and Ubuntu),
 * fetched without root into `cacheFolder` once.
 *
 * @throws Error with one message that says what to install when neither works.
 */
export async function findRedis(cacheFolder: string, onProgress: (line: string) => void): Promise<RedisBinary> {
  for (const name of SERVERS) {
    const command = await findOnPath(name);
    if (command && (await isNewEnough({ command, env: {} }))) return { command, env: {} };
  }
  const folder = join(cacheFolder, `redis-${process.arch}`);
  const cached = await findUnpacked(folder);
  if (cached) return cached;
  onProgress('No redis-server on the PATH: fetching the package of this distribution (once, no root needed)');
  await fetchPackage(cacheFolder, folder);
  const fetched = await findUnpacked(folder);
  if (!fetched) throw new Error(`The fetched Redis package in ${folder} does not run.\n${INSTALL_HINT}`);
  return fetched;
}

async function findOnPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const file = join(folder, name);
    if (await canExecute(file)) return file;
  }
  return undefined;
}

async function canExecute(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function isNewEnough(binary: RedisBinary): Promise<boolean> {
  try {
    const stdout = await runGuarded(binary.command, ['--version'], { env: { ...process.env, ...binary.env } });
    return Number(/\bv=(\d+)\./.exec(stdout)?.[1]) >= OLDEST_MAJOR;
  } catch {
    return false;
  }
}

async function findUnpacked(folder: string): Promise<RedisBinary | undefined> {
  const libraries = await listOrNothing(join(folder, 'usr/lib'));
  const env = {
    LD_LIBRARY_PATH: [join(folder, 'usr/lib'), ...libraries.map((name) => join(folder, 'usr/lib', name))].join(':'),
  };
  for (const name of SERVERS) {
    const binary = { command: join(folder, 'usr/bin', name), env };
    if (await isNewEnough(binary)) return binary;
  }
  return undefined;
}

async function listOrNothing(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

/**
 * Downloads redis-server and what it needs that is not installed, and unpacks it to `folder`. Everything happens in a
 * private folder that is renamed at the end, so that two processes may do it at once and a broken download is never used.
 */
async function fetchPackage(cacheFolder: string, folder: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const work = await mkdtemp(join(cacheFolder, 'fetch-'));
  try {
    const archives = join(work, 'archives');
    const unpacked = join(work, 'unpacked');
    await mkdir(join(work, 'lists', 'partial'), { recursive: true });
    await mkdir(join(archives, 'partial'), { recursive: true });
    await mkdir(unpacked);
    const settings = [
      `Dir::State::lists=${join(work, 'lists')}`,
      `Dir::Cache=${work}`,
      `Dir::Cache::archives=${archives}`,
      'Debug::NoLocking=1',
      'APT::Sandbox::User=root',
      'Acquire::Retries=3',
    ];
    const apt = (...args: string[]) =>
      runGuarded('apt-get', ['-qy', ...settings.flatMap((setting) => ['-o', setting]), ...args]);
    // One unreachable third-party source fails the update as a whole; what matters is whether the package can be had.
    await apt('update').catch(() => undefined);
    await apt('install', '--download-only', '--no-install-recommends', 'redis-server');
    for (const file of await readdir(archives)) {
      if (file.endsWith('.deb')) await runGuarded('dpkg', ['-x', join(archives, file), unpacked]);
    }
    await rename(unpacked, folder).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    });
  } catch (cause) {
    throw new Error(`${INSTALL_HINT}\n(Fetching it failed: ${messageOf(cause).split('\n')[0]})`, { cause });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
