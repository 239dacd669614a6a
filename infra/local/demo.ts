import { Command, InvalidArgumentError } from 'commander';
import logUpdate from 'log-update';
import { type DemoResult, runDemo } from './demo/run.ts';
import { drawTable, plainLine, seconds, type TableRow } from './demo/table.ts';
import { messageOf } from './errors.ts';
import { type Local, startLocal } from './local.ts';

const STOP_WITHIN_MS = 3_000;
const PLAIN_LINE_MS = 2_000;

interface Options {
  jobs: number;
  json?: true;
  drain?: true;
}

const program = new Command('npm run demo --')
  .description(
    'A morning on the queue: acme imports 400,000 jobs, then globex (12 jobs) and initech (3 jobs) come while it drains.',
  )
  .option('--jobs <number>', 'jobs of the import, 1 to 10,000,000', positiveInteger, 400_000)
  .option('--drain', 'go on until the import is done too')
  .option('--json', 'print the result as one JSON object, and progress on standard error')
  .parse();

const { jobs, json, drain } = program.opts<Options>();
const ended = new AbortController();
const started = performance.now();
const redraws = process.stdout.isTTY && !json;
let lastPlainMs = 0;
let local: Local | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    ended.abort();
    if (!local) process.exit(130);
  });
}

try {
  local = await startLocal({ onProgress: say, onProblem: say });
  const result = await runDemo(local.apiUrl, jobs, drain ?? false, { show, signal: ended.signal });
  if (redraws) logUpdate.done();
  console.log(json ? JSON.stringify(result, null, 2) : summary(result));
} catch (error) {
  if (redraws) logUpdate.done();
  if (!ended.signal.aborted) say(messageOf(error));
  process.exitCode = ended.signal.aborted ? 130 : 1;
} finally {
  await local?.stop();
}
process.exit();

function show(rows: TableRow[], status: string): void {
  const elapsed = (performance.now() - started) / 1000;
  if (redraws) {
    logUpdate(`\n${drawTable(rows, true)}\n\n${elapsed.toFixed(0).padStart(4)} s  ${status}`);
  } else if (performance.now() - lastPlainMs >= PLAIN_LINE_MS) {
    lastPlainMs = performance.now();
    say(`${plainLine(rows, elapsed)}  ${status}`);
  }
}

function summary({ small, stillWaiting, ratePerSecond }: DemoResult): string {
  const lines = small.map(
    ({ tenant, jobs: count, waitSeconds, fifoWaitSeconds }) =>
      `${tenant.padEnd(8)} ${String(count).padStart(3)} jobs: done after ${seconds(waitSeconds)}; behind acme in a single FIFO: ${seconds(fifoWaitSeconds)}`,
  );
  return `\n${lines.join('\n')}\n\n${stillWaiting.toLocaleString('en')} jobs of acme still waited by then, served at ${ratePerSecond.toFixed(0)} jobs/s.`;
}

function say(line: string): void {
  console.error(line);
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 10_000_000) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 10,000,000.');
  }
  return value;
}
