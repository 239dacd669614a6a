import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { codeOf } from './errors.ts';

/**
 * Everything the runner starts must end with it, also when it is killed with SIGKILL and cannot clean up. A frozen
 * (SIGSTOP) child cannot notice that its parent is gone, so a small shell holds the list: it reads `+ pid`, `- pid`
 * and `d folder` lines from a pipe, and when the pipe ends it kills the process groups and removes the folders.
 */
const GUARD = `
trap '' INT TERM HUP
pids=
while read -r op arg; do
  case $op in
    +) pids="$pids $arg" ;;
    -) left=; for pid in $pids; do [ "$pid" = "$arg" ] || left="$left $pid"; done; pids=$left ;;
    d) set -- "$@" "$arg" ;;
  esac
done
for pid in $pids; do kill -KILL "-$pid" 2>/dev/null; done
for folder; do rm -rf "$folder"; done
`;

let guard: ChildProcess | undefined;

function tellGuard(line: string): void {
  if (!guard) {
    guard = spawn('/bin/sh', ['-c', GUARD, 'guard'], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.stdin?.on('error', () => undefined);
    // The pipe must not keep the runner alive: it is meant to end when the runner does.
    guard.unref();
    if (guard.stdin instanceof Socket) guard.stdin.unref();
  }
  guard.stdin?.write(`${line}\n`);
}

/**
 * Spawns a child in a process group of its own (so that Ctrl-C in a terminal reaches the runner alone, which then
 * stops its children in order) that dies with this process however this process ends.
 */
export function spawnGuarded(command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) {
    tellGuard(`+ ${pid}`);
    child.once('exit', () => tellGuard(`- ${pid}`));
  }
  return child;
}

/**
 * Runs a command to its end and returns what it wrote to standard output. It dies with this process.
 *
 * @throws Error with what it wrote to standard error when it cannot be started or fails.
 */
export async function runGuarded(command: string, args: string[], options: SpawnOptions = {}): Promise<string> {
  const child = spawnGuarded(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(errors.trim() || `${command} ended with ${signal ?? code}`));
    });
  });
  return output;
}

/** Has `folder` removed once this process is gone, however it ends. */
export function removeAtEnd(folder: string): void {
  tellGuard(`d ${folder}`);
}

/** Kills a guarded child and whatever it started, and waits until it is gone. Harmless when it is gone already. */
export async function killGuarded(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  signalGroup(child.pid, 'SIGKILL');
  await gone;
}

/** Signals a guarded child's group; a group that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
