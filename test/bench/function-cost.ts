/**
 * What an environment of each function takes: resident memory at its peak, processor time to start and answer once, and
 * processor time for each further call, under the local runner's flood. Processor time does not depend on how busy the
 * machine is as elapsed time does; what a function gets of a processor on Lambda is its memory ÷ 1,769 MB.
 */
import { readFileSync } from 'node:fs';
import { type Local, startLocal } from '../../infra/local/local.ts';

const JOBS = 20_000;
const BATCH = 500;
const TICKS_PER_SECOND = 100;

interface Reading {
  readonly peakMb: number;
  readonly cpuMs: number;
}

function read(pid: number): Reading {
  const kb = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { peakMb: Number(kb) / 1024, cpuMs: ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000 };
}

const local = await startLocal({
  context: { 'rota.capacity': '10', 'rota.plans.free.maxDepth': '1000000' },
  schedules: false,
  mostEnvironments: 1,
  idleMs: 600_000,
});
const names = Object.fromEntries(local.functions.map(({ name }) => [name.split('-').at(-1) ?? name, name]));
const readings = (word: string) => local.environments(names[word] ?? word).map(read);
const peak = (word: string) => Math.max(...readings(word).map(({ peakMb }) => peakMb));
const cpu = (word: string) => readings(word).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

async function call(method: string, path: string, body?: unknown): Promise<{ depth: number; inFlight: number }> {
  const response = await fetch(`${local.apiUrl}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return JSON.parse(await response.text());
}

const payload = { data: 'x'.repeat(180) };
const enqueue = (count: number, type = 'echo') =>
  call('POST', '/v1/jobs', { tenant: 'acme', jobs: Array.from({ length: count }, () => ({ type, payload })) });

async function finished(run: Local, word: string, before: number): Promise<void> {
  const lines = () => run.logs(names[word]).filter((line) => line.startsWith('REPORT')).length;
  while (lines() <= before) await new Promise((resolve) => setTimeout(resolve, 50));
}

await enqueue(1);
await call('GET', '/v1/queue');
local.fire(names.monitor ?? '');
await finished(local, 'monitor', 0);
const cold = Object.fromEntries(['enqueue', 'tenants', 'monitor'].map((word) => [word, cpu(word)]));
for (let sent = 0; sent < JOBS; sent += BATCH) await enqueue(BATCH);
const afterBatches = cpu('enqueue');
for (let i = 0; i < 200; i++) await enqueue(1);
const afterSingles = cpu('enqueue');
for (let i = 0; i < 200; i++) await call('GET', '/v1/tenants/acme');
for (let i = 0; i < 20; i++) {
  local.fire(names.monitor ?? '');
  await finished(local, 'monitor', i + 1);
}
for (;;) {
  const { depth, inFlight } = await call('GET', '/v1/tenants/acme');
  if (depth + inFlight === 0) break;
}
const row = (word: string, warm: string) =>
  console.log(
    `${word.padEnd(9)} peak ${peak(word).toFixed(0).padStart(4)} MB   start and first call ${cold[word]?.toFixed(0) ?? '—'} ms CPU   ${warm}`,
  );
row(
  'enqueue',
  `${((afterSingles - afterBatches) / 200).toFixed(1)} ms a call of 1 job, ${((afterBatches - (cold.enqueue ?? 0)) / (JOBS / BATCH)).toFixed(1)} ms a call of ${BATCH}`,
);
row('tenants', `${((cpu('tenants') - (cold.tenants ?? 0)) / 200).toFixed(1)} ms a call at most`);
row('monitor', `${((cpu('monitor') - (cold.monitor ?? 0)) / 20).toFixed(1)} ms a reading`);
row('dispatch', `${cpu('dispatch').toFixed(0)} ms in all for ${JOBS} jobs`);
row(
  'process',
  `${(cpu('process') / JOBS).toFixed(2)} ms a job, starts of ${readings('process').length} environments included`,
);
await local.stop();
