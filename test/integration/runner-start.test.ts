import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';

const run = promisify(execFile);
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Started {
  child: ChildProcess;
  pid: number;
  /** What was written so far. */
  output: { text: string; errors: string };
  exitCode: Promise<number | null>;
}

function start(env: Record<string, string> = {}, args: string[] = []): Started {
  const child = spawn(process.execPath, ['infra/local/start.ts', ...args], {
    env: { ...process.env, PORT: '0', LAMBDA_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const output = { text: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.text += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.errors += text));
  const exitCode = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, pid: child.pid ?? 0, output, exitCode };
}

async function ready({ output, exitCode }: Started) {
  const line = /^Rota ready api=(http:\S+) lambda=(http:\S+) redis=(rediss:\S+)\n(curl .*)\n/m;
  let ended = false;
  void exitCode.then(() => (ended = true));
  await vi.waitFor(() => expect(ended || line.test(output.text)).toBe(true), { timeout: 90_000 });
  const [, api = '', lambda = '', redis = '', curl = ''] = line.exec(output.text) ?? [];
  if (ended || api === '') throw new Error(`The runner did not become ready:\n${output.errors}`);
  return { api, lambda, redis, curl };
}

/** Processes with this one among their ancestors, whatever their group. */
function descendants(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      parents.set(Number(name), Number(parent));
    } catch {
      // It ended between the listing and the reading.
    }
  }
  const below = (pid: number): number[] =>
    [...parents].flatMap(([child, parent]) => (parent === pid ? [child, ...below(child)] : []));
  return below(ancestor);
}

const alive = (pids: number[]) =>
  pids.filter((pid) => {
    try {
      // A zombie has ended; only its parent has not asked yet.
      return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  });

test('prints one ready line and a curl that works, and ends with everything it started on SIGTERM', async () => {
  const runner = start();
  const { curl, lambda } = await ready(runner);
  expect(runner.output.text.match(/Rota ready/g)).toHaveLength(1);
  const { stdout } = await run('/bin/sh', ['-c', `${curl} -s`]);
  expect(stdout).toMatch(/^HTTP\/1\.1 20[02] /);
  expect((await fetch(`${lambda}/2015-03-31/functions/nobody/invocations`, { method: 'POST' })).status).toBe(404);
  const children = descendants(runner.pid);
  // At least Redis, the guard and one environment of each of the five functions.
  expect(alive(children).length).toBeGreaterThanOrEqual(7);
  const askedAt = performance.now();
  runner.child.kill('SIGTERM');
  expect(await runner.exitCode).toBe(0);
  await vi.waitFor(() => expect(alive(children)).toEqual([]), { timeout: 5_000 });
  expect(performance.now() - askedAt).toBeLessThan(5_000);
});

test('ends when the shell that npm put around it ends', async () => {
  // As npm does it: the shell gets the signal and passes nothing on.
  const shell = spawn('/bin/sh', ['-c', '"$0" infra/local/start.ts; true', process.execPath], {
    env: { ...process.env, PORT: '0', LAMBDA_PORT: '0', npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(shell);
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await vi.waitFor(() => expect(output).toContain('Rota ready'), { timeout: 90_000 });
  const children = descendants(shell.pid ?? 0);
  expect(alive(children).length).toBeGreaterThanOrEqual(8);
  shell.kill('SIGTERM');
  await vi.waitFor(() => expect(alive(children)).toEqual([]), { timeout: 5_000 });
});

test('leaves nothing behind when it is killed with SIGKILL, frozen environments included', async () => {
  const runner = start();
  await ready(runner);
  const children = descendants(runner.pid);
  expect(alive(children).length).toBeGreaterThanOrEqual(7);
  runner.child.kill('SIGKILL');
  await vi.waitFor(() => expect(alive(children)).toEqual([]), { timeout: 5_000 });
});

/** Where a process synthesizes to, if it does. */
function outdirOf(pid: number): string[] {
  const [, outdir] = /(?:^|\0)CDK_OUTDIR=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8')) ?? [];
  return outdir === undefined ? [] : [outdir];
}

test('ends at once and without a trace on SIGINT while it is still starting', async () => {
  const runner = start({}, ['-c', `rota.jobTimeoutSeconds=${61 + (process.pid % 200)}`]);
  await vi.waitFor(() => expect(runner.output.errors).toContain('Synthesizing'), { timeout: 10_000 });
  const folder = await vi.waitFor(
    () => {
      const [outdir] = descendants(runner.pid).flatMap(outdirOf);
      if (outdir === undefined || !existsSync(outdir)) throw new Error('the synth has not begun');
      return outdir;
    },
    { timeout: 10_000 },
  );
  const children = descendants(runner.pid);
  runner.child.kill('SIGINT');
  expect(await runner.exitCode).toBe(130);
  await vi.waitFor(() => expect(alive(children)).toEqual([]), { timeout: 5_000 });
  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 5_000 });
});

test.each(['PORT', 'LAMBDA_PORT'])('says in one line that the port of %s is taken', async (variable) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  try {
    const runner = start({ [variable]: String(port) });
    expect(await runner.exitCode).toBe(1);
    expect(runner.output.errors.trim()).toBe(
      `Port ${port} is taken: end what listens there, or set ${variable} to another port (0 = any)`,
    );
  } finally {
    server.close();
  }
});

/** What a start that fails writes to standard error. */
async function fault(env: Record<string, string>, args: string[]) {
  const runner = start(env, args);
  expect(await runner.exitCode).toBe(1);
  return runner.output.errors;
}

test('says what is wrong with a setting, an option or a port', async () => {
  expect(await fault({}, ['-c', 'rota.quantumm=3'])).toContain('quantumm');
  expect(await fault({}, ['-c', 'rota.quantum'])).toContain('It must be key=value');
  expect(await fault({ PORT: 'http' }, [])).toContain('PORT is "http"; it must be a port, 0 to 65535');
  expect(await fault({}, ['-c', 'capacity=3'])).toContain('capacity: given "3", expected the key rota.capacity');
  expect(await fault({ REDIS_URL: 'redis://127.0.0.1:1' }, [])).toContain(
    'REDIS_URL redis://127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1',
  );
  for (const url of ['here', '127.0.0.1:6379', 'http://127.0.0.1:6379', 'redis://']) {
    expect(await fault({ REDIS_URL: url }, [])).toBe(
      `REDIS_URL is "${url}"; it must be redis://<host>:<port> or rediss://<host>:<port>\n`,
    );
  }
});
