import type { VisitJob } from '../domain/outcomes.ts';
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

/** The ids of a batch, from the 10 bytes of its enqueue. */
export function batchIds(shard: number, enqueueId: Buffer, jobs: number): string[] {
  return Array.from({ length: jobs }, (_, place) => {
    const id = Buffer.alloc(12);
    enqueueId.copy(id);
    id.writeUInt16BE(place, 10);
    return jobId(shard, id);
  });
}

/** A record of an opened visit as the process function works with it. */
export function readJob(shard: number, index: number, record: Buffer): VisitJob {
  return {
    index,
    id: jobId(shard, record.subarray(20, 32)),
    ...readBody(record.toString('utf8', HEADER_BYTES)),
    attempt: record.readUInt8(1) + 1,
    maxAttempts: record.readUInt8(41),
    timeoutSeconds: record.readUInt16BE(42),
    enqueuedAtMs: record.readUIntBE(14, 6),
    readySinceMs: record.readUIntBE(8, 6),
  };
}
