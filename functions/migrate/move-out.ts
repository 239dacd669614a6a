import type { Cluster, Redis } from 'ioredis';
import type { Exporter, WithdrawnJob } from '../lib/queue/exporter.ts';
import { writeElement } from './element.ts';
import { besideOf } from './source-list.ts';

const SLICE = 500;
const TENANTS = 100;

/** Where jobs go. Given the same job twice in a row of slices, it keeps it once. */
export interface Sink {
  /** Whether an earlier run has begun to write, and not ended. */
  begun(): Promise<boolean>;
  write(jobs: readonly WithdrawnJob[]): Promise<void>;
}

interface MoveOutOptions {
  readonly queue: Exporter;
  /** Only this tenant's; all if not given. */
  readonly tenant?: string | undefined;
  readonly sink: Sink;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { withdrawn: number; written: number }) => void;
}

/**
 * Moves the waiting jobs out of the queue, in the order of their enqueue, each once. First they are taken out, tenant by tenant,
 * and kept aside in Redis; then written in order, and forgotten slice by slice. Whatever dies, the next run goes on where this one was.
 * Jobs in flight are not moved: pause the queue first, and wait for them.
 */
export async function moveOut({
  queue,
  tenant,
  sink,
  signal,
  onProgress,
}: MoveOutOptions): Promise<{ written: number; finished: boolean }> {
  let [withdrawn, written] = [0, 0];
  const takeAll = async (name: string) => {
    for (let left = 1; left > 0 && !signal.aborted; ) {
      const slice = await queue.withdraw(name, SLICE);
      withdrawn += slice.count;
      ({ left } = slice);
      onProgress({ withdrawn, written });
    }
  };
  const writeAll = async () => {
    while (!signal.aborted) {
      const jobs = await queue.withdrawn(SLICE);
      if (jobs.length === 0) return;
      await sink.write(jobs);
      await queue.forget(jobs.length);
      written += jobs.length;
      onProgress({ withdrawn, written });
    }
  };
  // Where an earlier run died writing, its last slice may be written and not forgotten: it must come again as it was, before
  // more jobs are among those taken out.
  if (await sink.begun()) await writeAll();
  if (tenant !== undefined) await takeAll(tenant);
  else {
    for (let tenants = await queue.waitingTenants(TENANTS); tenants.length > 0 && !signal.aborted; ) {
      for (const view of tenants) await takeAll(view.tenant);
      tenants = await queue.waitingTenants(TENANTS);
    }
  }
  await writeAll();
  return { written, finished: !signal.aborted };
}

/** Pushes what is not among the last slice's, and remembers this slice: it may come again when its end was not seen. */
const PUSH = `
local list, last = KEYS[1], KEYS[2]
for i = 1, #ARGV, 2 do
  if redis.call('SISMEMBER', last, ARGV[i]) == 0 then redis.call('RPUSH', list, ARGV[i + 1]) end
end
redis.call('DEL', last)
for i = 1, #ARGV, 2 do redis.call('SADD', last, ARGV[i]) end
return 1`;

/** The tail of a list, from whose head workers take, as those of Resque do. */
export function listSink(
  redis: Redis | Cluster,
  list: string,
  format: 'resque' | 'jsonl',
): Sink & { close(): Promise<void> } {
  const last = besideOf(list, 'last-slice');
  return {
    async write(jobs) {
      const given = jobs.flatMap((job) => [job.id, writeElement(format, job)]);
      await redis.eval(PUSH, 2, list, last, ...given);
    },
    begun: async () => (await redis.exists(last)) === 1,
    async close() {
      await redis.del(last);
    },
  };
}
