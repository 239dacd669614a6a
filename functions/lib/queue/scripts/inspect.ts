import verb from '../../../../lua/inspect.lua';
import type { HeldReason, TenantView } from '../../domain/outcomes.ts';
import { forViews } from '../parts.ts';
import { afterOutcome, defineScript, number, optional, type Reply, text } from '../script.ts';
import { measured } from './enqueue.ts';

const HELD_BITS: readonly (readonly [number, HeldReason])[] = [
  [1, 'paused'],
  [2, 'concurrency'],
  [4, 'rate'],
  [8, 'backoff'],
];

/** What holds a tenant, from the bits of its record. */
export const heldReasons = (bits: number): HeldReason[] =>
  HELD_BITS.filter(([bit]) => (bits & bit) !== 0).map(([, reason]) => reason);

/** Field and value in turn, as a lookup. */
export function fieldsOf(flat: Reply): (name: string) => Reply[number] | undefined {
  const fields = new Map<string, Reply[number] | undefined>();
  for (let i = 0; i < flat.length; i += 2) fields.set(text(flat[i]), flat[i + 1]);
  return (name) => fields.get(name);
}

/** Decodes what `viewOf` in lua/lib/view.lua sends. */
export function decodeView(nowMs: number, flat: Reply): TenantView {
  const field = fieldsOf(flat);
  return {
    tenant: text(field('tenant')),
    plan: text(field('planName')),
    record: {
      plan: text(field('plan')) || null,
      weight: optional(field('oweight')),
      maxDepth: optional(field('odepth')),
      maxConcurrency: optional(field('oconc')),
      maxBytes: optional(field('obytes')),
      maxJobsPerSecond: optional(field('orate')),
      burst: optional(field('oburst')),
    },
    etag: text(field('etag')),
    claimPlan: text(field('claim')) || null,
    weight: number(field('weight')),
    maxDepth: number(field('maxDepth')),
    maxConcurrency: number(field('maxConcurrency')),
    maxBytes: optional(field('maxBytes')),
    maxJobsPerSecond: optional(field('maxJobsPerSecond')),
    burst: number(field('burst')),
    ready: number(field('ready')),
    delayed: number(field('delayed')),
    inFlight: number(field('flight')),
    lanes: number(field('lanes')),
    dead: number(field('dead')),
    bytes: number(field('bytes')),
    held: heldReasons(number(field('held'))),
    heldUntilMs: number(field('until')) || null,
    limitedUntilMs: optional(field('limitedUntil')),
    oldestReadySinceMs: optional(field('oldest')),
    dueMs: optional(field('due')),
    queuePaused: number(field('queuePaused')) === 1,
    freeSlots: number(field('freeSlots')),
    dispatcherAlive: number(field('dispatcher')) === 1,
    visitsAhead: optional(field('ahead')),
    rate: {
      tenant: measured(field('rate')),
      queue: measured(field('queueRate')),
      weightShare: number(field('weightShare')),
      most: optional(field('maxJobsPerSecond')) ?? undefined,
    },
    rateWindowMs: number(field('rateSpan')),
    served: number(field('served')),
    done: number(field('done')),
    failed: number(field('failed')),
    enqueued: number(field('enqueued')),
    p95Ms: optional(field('p95')),
    meanMs: optional(field('mean')),
    nowMs,
  };
}

export const inspect = defineScript({
  name: 'inspect',
  parts: [...forViews, verb],
  allowOom: true,
  fields: ['tenant'],
  decode: (reply): TenantView => {
    const [now, ...flat] = afterOutcome('inspect', 'tenant', reply);
    return decodeView(number(now), flat);
  },
});
