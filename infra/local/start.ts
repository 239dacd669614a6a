import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { contextOption } from './context-option.ts';
import { messageOf } from './errors.ts';
import { type Local, startLocal } from './local.ts';
import { CACHE_FOLDER } from './redis-server.ts';

/** Ends the process anyway when something does not end by itself; the guard then ends the rest. */
const STOP_WITHIN_MS = 3_000;

const PARENT_CHECK_MS = 250;

interface Options {
  context: Record<string, string>;
  logs?: true;
  monitorEvery: number;
}

const program = new Command('npm start --')
  .description(
    'Runs the whole queue on this machine: the stack as it deploys, its functions, its HTTP API, a Lambda endpoint and a Redis.',
  )
  .addOption(contextOption())
  .option('--logs', 'show what the functions log (it always goes to .cache/local.log)')
  .addOption(
    new Option('--monitor-every <seconds>', 'how often monitor reads the queue; on AWS it is every 60 s')
      .default(10)
      .argParser(secondsOf),
  )
  .addHelpText(
    'after',
    `
Environment:
  PORT         port of the HTTP API (default 3000, 0 = any free one)
  LAMBDA_PORT  port of the Lambda Invoke API (default 3001, 0 = any free one)
  REDIS_URL    use this Redis (standalone or cluster) instead of starting one; the queue's own keys in it are removed

When all is up, standard output gets the line
  Rota ready api=<url> lambda=<url> redis=<url>
Ctrl-C ends everything.`,
  )
  .parse();

let local: Local | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
endWithNpm();

try {
  await start(program.opts<Options>());
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}

function end(): void {
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  // Still starting: there is nothing to end in order, and the guard ends what there is.
  if (!local) process.exit(130);
  void local.stop().then(() => process.exit(0));
}

/** npm passes a SIGTERM on to a shell, which ends without telling its child; and a killed npm tells nobody. */
function endWithNpm(): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    end();
  }, PARENT_CHECK_MS);
  watch.unref();
}

async function start({ context, logs, monitorEvery }: Options): Promise<void> {
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const logFile = createWriteStream(join(CACHE_FOLDER, 'local.log'));
  const { REDIS_URL: redisUrl } = process.env;
  local = await startLocal({
    context,
    ...(redisUrl && { redisUrl }),
    port: portOf('PORT', 3000),
    lambdaPort: portOf('LAMBDA_PORT', 3001),
    monitorSeconds: monitorEvery,
    onProgress: say,
    onProblem: say,
    onLog: (functionName, line) => {
      logFile.write(`${functionName} ${line}\n`);
      if (logs) say(`${functionName} ${line}`);
    },
  });
  sayWhoMayCall(local);
  if (local.redisCaFile !== undefined) {
    say(`A look into Redis: redis-cli -c --cacert ${local.redisCaFile} -u ${local.redisUrl}`);
  }
  say(`Dashboard: ${local.dashboardUrl}`);
  const authorization = local.routes.some((route) => route.authorization.type === 'jwt')
    ? ' -H "authorization: Bearer $TOKEN"'
    : '';
  console.log(`Rota ready api=${local.apiUrl} lambda=${local.lambdaUrl} redis=${local.redisUrl}`);
  console.log(
    `curl -i ${local.apiUrl}/v1/jobs -H 'content-type: application/json'${authorization} -d '{"tenant":"acme","jobs":[{"type":"echo","payload":{"hello":"world"}}]}'`,
  );
}

function sayWhoMayCall({ routes }: Local): void {
  if (routes.some(({ authorization }) => authorization.type === 'iam')) {
    say('The API takes every caller for a trusted IAM one: signatures are not checked on this machine.');
  }
  const issuers = new Set(
    routes.flatMap(({ authorization }) => (authorization.type === 'jwt' ? authorization.issuer : [])),
  );
  for (const issuer of issuers) say(`The API checks the JWT of every caller against the keys of ${issuer}.`);
}

/** Standard output is for programs: it gets the ready line and the example. */
function say(line: string): void {
  console.error(line);
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds <= 0 || seconds % 10 !== 0 || 60 % seconds !== 0) {
    throw new InvalidArgumentError('It must be 10, 20, 30 or 60.');
  }
  return seconds;
}

function portOf(variable: string, fallback: number): number {
  const text = process.env[variable];
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`${variable} is ${JSON.stringify(text)}; it must be a port, 0 to 65535`);
  }
  return port;
}
