import { createReadStream } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Cluster, Redis } from 'ioredis';
import logUpdate from 'log-update';
import { connectRedis } from '../lib/queue/connect.ts';
import { openCore } from '../lib/queue/core.ts';
import { exporterOf } from '../lib/queue/exporter.ts';
import { producerOf } from '../lib/queue/producer.ts';
import type { RedisConnection } from '../lib/queue/script.ts';
import type { ElementRules, Format } from './element.ts';
import { moveIn } from './move-in.ts';
import { listSink, moveOut } from './move-out.ts';
import { drawProgress, drawSurvey } from './progress.ts';
import { besideOf, lineSource, listSource, type Source } from './source-list.ts';
import { survey } from './survey.ts';

interface Connection {
  queue: string;
  rota?: string;
  iam?: string;
}

interface InOptions extends Connection {
  format: Format;
  from?: string;
  list?: string;
  file?: string;
  tenant: string;
  type: Record<string, string>;
  known?: string[];
  rejects?: string;
  batch: number;
  maxAttempts: number;
  idempotencySeconds: number;
  dryRun?: true;
}

interface OutOptions extends Connection {
  to: string;
  list: string;
  tenant?: string;
  format: 'resque' | 'jsonl';
}

const whole = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
};
const pair = (text: string, before: Record<string, string>) => {
  const [from, to] = text.split('=');
  if (from && to) return { ...before, [from]: to };
  throw new InvalidArgumentError('It must be <name there>=<job type here>.');
};

const ended = new AbortController();
let interrupts = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupts += 1;
    if (interrupts > 1) process.exit(130);
    say(
      'Ending after the batch that is under way; the same command goes on from there. Once more ends at once, which loses nothing either.',
    );
    ended.abort();
  });
}
const say = (line: string) => console.error(line);
const redraws = process.stderr.isTTY;
const draw = drawProgress(redraws ? (line) => logUpdate(line) : say, redraws ? 100 : 5_000);

const program = new Command('npm run migrate --').description(
  'Moves the jobs of another queue into this one, or the waiting jobs of this one out.',
);
const connected = (command: Command) =>
  command
    .addOption(new Option('--rota <url>', "Rota's Redis: redis://… or rediss://user@host:port").env('ROTA_REDIS_URL'))
    .option(
      '--iam <id>',
      'sign in by IAM, to the replication group of that id (AWS credentials and region from the environment)',
    )
    .option('--queue <name>', 'setting `queue` of the stack', 'default');

connected(program.command('in'))
  .description('Moves a list of Resque or BullMQ, or lines of JSON, in: each element once, while both sides go on.')
  .addOption(
    new Option('--format <format>', 'how elements are written')
      .choices(['resque', 'bullmq', 'jsonl'])
      .makeOptionMandatory(),
  )
  .option('--from <url>', 'the Redis that the list is in')
  .option('--list <key>', 'key of the list: resque:queue:<name>; of BullMQ the name of the queue')
  .option('--file <path>', 'lines of {"tenant","type","payload"}; - is standard input')
  .option('--tenant <path>', 'where an element has its tenant', 'args[0].account_id')
  .option('--type <class=type>', 'job type of a class or name (repeatable)', pair, {})
  .option('--known <types...>', 'job types that there are; elements of others are rejected')
  .option('--rejects <key>', 'list, beside the source, for elements that cannot be jobs (of a file: a file)')
  .option('--batch <number>', 'elements of a batch, 1 to 100,000', whole(1, 100_000), 20_000)
  .option('--max-attempts <number>', 'attempts of jobs that name none', whole(1, 100), 5)
  .option('--idempotency-seconds <number>', 'setting `idempotencySeconds` of the stack', whole(60, 2_592_000), 86_400)
  .option('--dry-run', 'count what would be moved, by tenant and type, and change nothing')
  .action(runIn);

connected(program.command('out'))
  .description(
    'Moves the waiting jobs out into a list, in the order of their enqueue, each once. Pause the queue first.',
  )
  .requiredOption('--to <url>', 'the Redis that the list is in')
  .requiredOption('--list <key>', 'key of the list, such as resque:queue:<name>')
  .option('--tenant <id>', "only this tenant's jobs")
  .addOption(new Option('--format <format>', 'how elements are written').choices(['resque', 'jsonl']).default('resque'))
  .action(runOut);

try {
  await program.parseAsync();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
process.exit();

async function connect(url: string): Promise<Redis | Cluster> {
  const node = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
  // What `connect` is rejected with says no more than that the connection is closed.
  let reason: unknown;
  node.on('error', (error) => (reason = error));
  await node.connect().catch((error: unknown) => {
    throw new Error(`${new URL(url).host} cannot be reached: ${String(reason ?? error)}`);
  });
  if (!(await node.info('cluster')).includes('cluster_enabled:1')) return node;
  const { host, port, username, password, tls } = node.options;
  node.disconnect();
  return new Cluster([{ host, port }], { redisOptions: { username, password, tls } });
}

async function openQueue({ queue, rota, iam }: Connection) {
  if (rota === undefined) throw new Error("Say where Rota's Redis is: --rota, or ROTA_REDIS_URL.");
  const redis: RedisConnection =
    iam === undefined
      ? await connect(rota)
      : connectRedis({ url: rota, cluster: true, auth: 'iam', name: iam, secret: '' });
  return openCore({ redis, queue, shard: 0 });
}

async function sourceOf({ format, from, list, file, rejects, batch }: InOptions): Promise<Source> {
  if (file !== undefined) {
    const input = file === '-' ? process.stdin : createReadStream(file);
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
    const kept = rejects ?? `${file === '-' ? 'stdin' : file}.rejects`;
    return lineSource(file, lines, batch, async (reject) => await appendFile(kept, `${reject}\n`));
  }
  if (from === undefined || list === undefined)
    throw new Error('Say where the jobs are: --from and --list, or --file.');
  const redis = await connect(from);
  if (format === 'bullmq') {
    const wait = `bull:${list}:wait`;
    return listSource({
      redis,
      list: wait,
      end: 'tail',
      hashPrefix: `bull:${list}:`,
      rejects: rejects ?? besideOf(wait, 'rejects'),
    });
  }
  return listSource({ redis, list, end: 'head', hashPrefix: '', rejects: rejects ?? besideOf(list, 'rejects') });
}

async function runIn(options: InOptions): Promise<void> {
  const { format, tenant, type, known, batch, maxAttempts, idempotencySeconds, dryRun } = options;
  const rules: ElementRules = { format, tenantPath: tenant, types: type, knownTypes: known ?? null, maxAttempts };
  const source = await sourceOf(options);
  if (dryRun) {
    if (options.file !== undefined) throw new Error('A dry run looks at lists only.');
    const found = await survey(source, rules, {
      signal: ended.signal,
      onProgress: (elements) => draw({ done: elements }),
    });
    console.log(drawSurvey(found));
    const underWay = (await source.left()) - found.elements;
    if (underWay > 0) say(`${underWay} more are in a batch that is under way.`);
    return;
  }
  const core = await openQueue(options);
  const { moved, rejected, reasons, finished } = await moveIn({
    source,
    queue: producerOf(core),
    rules,
    batchSize: batch,
    rememberedMs: idempotencySeconds * 1_000,
    signal: ended.signal,
    onProgress: ({ moved: done, left, full }) => draw({ done, left, full }),
  });
  if (redraws) logUpdate.done();
  for (const [reason, elements] of Object.entries(reasons)) say(`Rejected: ${elements} × ${reason}`);
  say(`${finished ? 'Done' : 'Ended before the end'}: ${moved} jobs moved in, ${rejected} elements rejected.`);
  if (!finished) process.exitCode = 130;
}

async function runOut(options: OutOptions): Promise<void> {
  const core = await openQueue(options);
  const sink = listSink(await connect(options.to), options.list, options.format);
  const { written, finished } = await moveOut({
    queue: exporterOf(core),
    tenant: options.tenant,
    sink,
    signal: ended.signal,
    onProgress: ({ withdrawn, written: done }) => draw({ done, left: withdrawn - done }),
  });
  if (redraws) logUpdate.done();
  if (finished) await sink.close();
  say(`${finished ? 'Done' : 'Ended before the end'}: ${written} jobs moved out to ${options.list}.`);
  if (!finished) process.exitCode = 130;
}
