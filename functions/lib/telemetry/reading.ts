import * as z from 'zod/mini';
import type { TenantMetric } from './metric-names.ts';

const part = z.nullable(z.number());

/** What is told of a tenant, and of all others together. `served` never falls; shares are null when nothing was served. */
const told = {
  served: z.number(),
  servedSince: z.number(),
  depth: z.number(),
  inFlight: z.number(),
  oldestAgeSeconds: z.number(),
  realisedShare: part,
  entitledShare: part,
};

const tenant = z.object({
  ...told,
  tenant: z.string(),
  plan: z.string(),
  /** The tenant's own counts as Redis had them, from which the next reading goes on. */
  own: z.object({ served: z.number(), enqueued: z.number() }),
  lastInMs: z.number(),
});

const counts = z.object({
  enqueued: z.number(),
  served: z.number(),
  done: z.number(),
  failed: z.number(),
  died: z.number(),
  // The monitor of the release before does not keep it.
  dropped: z.optional(z.number()),
  late: z.number(),
});

/**
 * A look at the queue: what metrics tell of it, and what the next look has to know. Kept in Redis as JSON; one of another
 * shape, by another release, counts as none.
 */
const reading = z.object({
  shape: z.literal(1),
  nowMs: z.number(),
  queue: z.object({
    depth: z.number(),
    bytes: z.number(),
    inFlight: z.number(),
    dead: z.number(),
    oldestAge: z.number(),
    activeTenants: z.number(),
    servableTenants: z.number(),
    starvedTenants: z.number(),
    capacity: z.number(),
    capacityUsed: z.number(),
    dispatcherAlive: z.number(),
    fairnessError: z.number(),
  }),
  /** Entitled share for each unit of weight of a tenant with a backlog; null when nobody contended. */
  level: part,
  /** Since the queue was made. */
  counts,
  /** Since the reading before; absent in the first. */
  since: z.optional(counts),
  tenants: z.array(tenant),
  left: z.array(z.object({ tenant: z.string(), served: z.number(), leftMs: z.number() })),
  other: z.object(told),
  /** All service that was ever told of a tenant under its own label; what is not in it belongs to `other`. */
  servedApart: z.number(),
  sweep: z.object({ cursor: z.string(), differences: z.number(), differencesSince: z.number() }),
});

export type Reading = z.output<typeof reading>;
export type TenantTold = z.output<typeof tenant>;
type Told = Reading['other'];
export type Counts = z.output<typeof counts>;

/** A reading as it is kept; undefined when there is none that this release understands. */
export function parseReading(text: string | null): Reading | undefined {
  if (text === null) return undefined;
  const read = reading.safeParse(JSON.parse(text));
  return read.success ? read.data : undefined;
}

/** What is told of a tenant but how much it was served, which some tell since the last reading and others as a whole. */
export const gaugesOf = (one: Told): Readonly<Record<Exclude<TenantMetric, 'served'>, number | null>> => ({
  depth: one.depth,
  oldestAge: one.oldestAgeSeconds,
  inFlight: one.inFlight,
  realisedShare: one.realisedShare,
  entitledShare: one.entitledShare,
});
