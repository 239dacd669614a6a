import type { DeadLetter, StoredJob, VisitJob, WaitingJob } from '../domain/outcomes.ts';
import { bodyText, readBody, TRACE_BYTES } from './job-body.ts';
import type { NewJob } from './queue-client.ts';

const HEADER_BYTES = 44;
const BUILT_IN_ROUTE = 0;

/** A new job as `enqueue` takes it: delay, then route, cost, most attempts, timeout and body (lua/README.md). */
export function packNewJob(job: NewJob): Buffer {
  const body = Buffer.from(bodyText(job), 'utf8');
  const packed = Buffer.allocUnsafe(18 + body.length);
  packed.writeUIntBE(job.delayMs, 0, 6);
  packed.writeUInt8(BUILT_IN_ROUTE, 6);
  packed.writeDoubleBE(job.cost, 7);
  packed.writeUInt8(job.maxAttempts, 15);
  packed.writeUInt16BE(job.timeoutSeconds, 16);
  body.copy(packed, 18);
  return packed;
}

/** What makes two packed jobs the same one: a repeated request is another span, and asks for the same jobs. */
export const withoutTrace = (packed: Buffer, { traceparent }: NewJob): Buffer =>
  traceparent === undefined ? packed : packed.subarray(0, -TRACE_BYTES);

/** The id that the outside sees: shard, then the record's 12 bytes in hex. */
export function jobId(shard: number, id: Buffer): string {
  return `${shard}-${id.toString('hex')}`;
}

/** The 12 bytes of such an id; undefined for text that is no id of this shard. */
export function parseJobId(shard: number, id: string): Buffer | undefined {
  const [, at, hex] = /^(\d+)-([0-9a-f]{24})$/.exec(id) ?? [];
  return hex !== undefined && Number(at) === shard ? Buffer.from(hex, 'hex') : undefined;
}

/** The ids of a batch, from the 10 bytes of its enqueue. */
export function batchIds(shard: number, enqueueId: Buffer, jobs: number): string[] {
  return Array.from({ length: jobs }, (_, place) => {
    const id = Buffer.alloc(12);
    enqueueId.copy(id);
    id.writeUInt16BE(place, 10);
    return jobId(shard, id);
  });
}

/** A record as it is stored. */
export function readStored(shard: number, record: Buffer): StoredJob {
  return {
    id: jobId(shard, record.subarray(20, 32)),
    ...readBody(record.toString('utf8', HEADER_BYTES)),
    attempts: record.readUInt8(1),
    maxAttempts: record.readUInt8(41),
    timeoutSeconds: record.readUInt16BE(42),
    cost: record.readDoubleBE(33),
    enqueuedAtMs: record.readUIntBE(14, 6),
    readySinceMs: record.readUIntBE(8, 6),
  };
}

/** A record of an opened visit as the process function works with it. */
export function readJob(shard: number, index: number, record: Buffer): VisitJob {
  const { attempts, cost: _, ...job } = readStored(shard, record);
  return { index, ...job, attempt: attempts + 1 };
}

/** A job that waits. `dueMs` is when a delayed one becomes ready. */
export function readWaiting(shard: number, record: Buffer, dueMs: number | null): WaitingJob {
  const job = readStored(shard, record);
  return { ...job, readyAtMs: dueMs ?? job.readySinceMs };
}

/** A dead letter: when it died, of what, and its record. */
export function readDead(shard: number, dead: Buffer): DeadLetter {
  const end = 8 + dead.readUInt16BE(6);
  return {
    ...readStored(shard, dead.subarray(end)),
    diedAtMs: dead.readUIntBE(0, 6),
    error: dead.toString('utf8', 8, end),
  };
}
