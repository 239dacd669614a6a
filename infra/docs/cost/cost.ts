import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Bill, breakEven, handlerTime, rotaBill, sqsBill, total, type Workload } from './model.ts';
import { nodes, priceList } from './prices.ts';

const PAGE = join(import.meta.dirname, '../cost.md');

const usd = (sum: number) => sum.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const count = (jobs: number) => jobs.toLocaleString('en-US', { maximumFractionDigits: 0 });

export const profiles = {
  development: { engine: 'redis', nodeType: 'cache.t4g.small', replicas: 1 },
  production: { engine: 'valkey', nodeType: 'cache.m7g.large', replicas: 1 },
} as const;

/** The workload of the page: what is not said elsewhere. */
export const usual: Workload = {
  jobs: 0,
  meanMs: 500,
  payloadBytes: 1_024,
  batch: 10,
  visit: 8,
  chain: 10,
  busy: 1,
  ...profiles.production,
};

const VOLUMES = [0, 1e6, 1e8];
const atVolume = (jobs: number, more: Partial<Workload> = {}): Workload => ({
  ...usual,
  jobs,
  busy: jobs === 0 ? 0 : 1,
  ...more,
});

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Columns of bills side by side, whose lines are alike. */
function billTable(headings: readonly string[], bills: readonly Bill[]): string {
  const [first = []] = bills;
  return [
    row(['dollars a month', ...headings]),
    row(['---', ...headings.map(() => '---:')]),
    ...first.map(([line], place) => row([line, ...bills.map((bill) => usd(bill[place]?.[1] ?? 0))])),
    row(['**Sum**', ...bills.map((bill) => `**${usd(total(bill))}**`)]),
  ].join('\n');
}

function breakEvenTable(): string {
  const rows = [1, 10, 100, 500].map((batch) => {
    const load = atVolume(1e6, { batch });
    const perMillion = (bill: (load: Workload) => Bill) => total(bill({ ...load, jobs: 2e6 })) - total(bill(load));
    const jobs = breakEven(load);
    return row([
      String(batch),
      usd(perMillion(rotaBill)),
      usd(perMillion(sqsBill)),
      jobs === null ? 'never' : `${count(jobs / 1e6)} M jobs`,
    ]);
  });
  return [
    row(['jobs a request', 'Rota, a further million', 'SQS, a further million', 'Rota is cheaper from']),
    row(['---:', '---:', '---:', '---:']),
    ...rows,
  ].join('\n');
}

/** The generated parts of the page, by the name in their marks. */
export function parts(): Record<string, string> {
  const headings = VOLUMES.map((jobs) => `${count(jobs)} jobs`);
  return {
    rota: billTable(
      headings,
      VOLUMES.map((jobs) => rotaBill(atVolume(jobs))),
    ),
    development: billTable(
      ['0 jobs', '1,000,000 jobs'],
      [0, 1e6].map((jobs) => rotaBill(atVolume(jobs, profiles.development))),
    ),
    sqs: billTable(
      headings,
      VOLUMES.map((jobs) => sqsBill(atVolume(jobs))),
    ),
    handlers: billTable(
      headings,
      VOLUMES.map((jobs) => [['Handlers of 500 ms', handlerTime(atVolume(jobs))]]),
    ),
    'break-even': breakEvenTable(),
  };
}

/** A page with what stands between its marks made anew. */
export function withParts(page: string): string {
  return Object.entries(parts()).reduce((text, [name, part]) => {
    const marked = new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marked.test(text)) throw new Error(`cost.md has no <!-- ${name} --> … <!-- /${name} -->`);
    return text.replace(marked, (_, begin: string, end: string) => `${begin}\n\n${part}\n\n${end}`);
  }, page);
}

function amount(given: string): number {
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('Expected a number from 0.');
  return value;
}

function main(): void {
  const program = new Command('npm run cost --')
    .description('What a queue costs a month at list prices, beside an SQS fair queue with Lambda.')
    .option('--jobs <number>', 'jobs a month', amount, 1e6)
    .option('--mean-ms <number>', "mean time of a job's handler, ms", amount, usual.meanMs)
    .option('--payload-bytes <number>', 'payload of a job, bytes', amount, usual.payloadBytes)
    .option('--batch <number>', 'jobs in one enqueue request', amount, usual.batch)
    .option('--visit <number>', 'jobs in one visit, and in one receive', amount, usual.visit)
    .option('--chain <number>', 'visits in one invocation of process', amount, usual.chain)
    .option('--busy <part>', 'part of the month in which there is work, 0 to 1', amount, usual.busy)
    .addOption(new Option('--engine <name>', 'engine of the cache').choices(['redis', 'valkey']).default(usual.engine))
    .addOption(new Option('--node-type <type>', 'node type').choices(Object.keys(nodes)).default(usual.nodeType))
    .option('--replicas <number>', 'replicas of the cache', amount, usual.replicas)
    .option('--write', 'make the tables of infra/docs/cost.md anew, with its own workloads');
  const { write, ...load } = program.parse().opts<Workload & { write?: true }>();
  if (write) return writeFileSync(PAGE, withParts(readFileSync(PAGE, 'utf8')));
  console.log(`List prices of ${priceList.region}, ${priceList.asOf}\n`);
  console.log(`Rota\n${billTable([`${count(load.jobs)} jobs`], [rotaBill(load)])}\n`);
  console.log(`SQS fair queue and Lambda\n${billTable([`${count(load.jobs)} jobs`], [sqsBill(load)])}\n`);
  const jobs = breakEven(load);
  console.log(`The handlers' own time, on top of either: ${usd(handlerTime(load))}`);
  console.log(`Rota is cheaper from: ${jobs === null ? 'no volume' : `${count(jobs)} jobs a month`}`);
}

if (import.meta.main) main();
