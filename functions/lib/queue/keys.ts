/**
 * Every key of the queue, as `lua/lib/keys.lua` derives them; a test holds the two against each other. Only code that
 * must name a key outside a script uses this: blocking on `wake`, what `monitor` reads, and tests that look inside.
 */
export interface QueueKeys {
  readonly prefix: string;
  readonly config: string;
  readonly clock: string;
  readonly totals: string;
  readonly rotation: string;
  readonly due: string;
  readonly held: string;
  readonly opening: string;
  readonly visits: string;
  readonly depths: string;
  readonly oldest: string;
  readonly idle: string;
  readonly onces: string;
  readonly wake: string;
  readonly dispatcher: string;
  readonly monitor: string;
  readonly withdrawn: string;
  tenant(tenant: string): string;
  record(tenant: string): string;
  ready(tenant: string): string;
  returned(tenant: string): string;
  delayed(tenant: string): string;
  dead(tenant: string): string;
  once(tenant: string): string;
  visit(leaseId: string): string;
}

/** What all keys of a queue begin with, those of every shard and schema. */
export const queuePrefix = (queue: string): string => `{rota:${queue}:`;

/** What all keys of a shard begin with, those of every schema. */
export const shardPrefix = (queue: string, shard: number): string => `${queuePrefix(queue)}${shard}}:`;

/** The keys of one shard of a queue. The hash tag keeps them in one slot, so that scripts run on a cluster. */
export function queueKeys(queue: string, shard: number): QueueKeys {
  const prefix = `${shardPrefix(queue, shard)}v1:`;
  return {
    prefix,
    config: `${prefix}config`,
    clock: `${prefix}clock`,
    totals: `${prefix}totals`,
    rotation: `${prefix}rotation`,
    due: `${prefix}due`,
    held: `${prefix}held`,
    opening: `${prefix}opening`,
    visits: `${prefix}visits`,
    depths: `${prefix}depths`,
    oldest: `${prefix}oldest`,
    idle: `${prefix}idle`,
    onces: `${prefix}onces`,
    wake: `${prefix}wake`,
    dispatcher: `${prefix}dispatcher`,
    monitor: `${prefix}monitor`,
    withdrawn: `${prefix}withdrawn`,
    tenant: (tenant) => `${prefix}tenant:${tenant}`,
    record: (tenant) => `${prefix}record:${tenant}`,
    ready: (tenant) => `${prefix}ready:${tenant}`,
    returned: (tenant) => `${prefix}returned:${tenant}`,
    delayed: (tenant) => `${prefix}delayed:${tenant}`,
    dead: (tenant) => `${prefix}dead:${tenant}`,
    once: (tenant) => `${prefix}once:${tenant}`,
    visit: (leaseId) => `${prefix}visit:${leaseId}`,
  };
}
