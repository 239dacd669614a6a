/** Whether more jobs may wait. */
import type { Cap } from '../outcomes.ts';
import { depthOf, type Limits, type Model, type ModelTenant, readyCount } from './state.ts';

const bytesOf = (jobs: readonly { bytes: number }[]) => jobs.reduce((sum, { bytes }) => sum + bytes, 0);

const bytesWaiting = ({ ready, returned, delayed }: ModelTenant) =>
  bytesOf([...ready, ...returned, ...delayed.map(({ job }) => job)]);

/** The first cap that the jobs would pass together, and how many of them, from the first on, fit under all; undefined when all do. */
export function refuse(
  model: Model,
  tenant: ModelTenant | undefined,
  { maxDepth, maxBytes }: Limits,
  jobs: readonly { bytes: number }[],
): { cap: Cap; limit: number; room: number } | undefined {
  const tenants = [...model.tenants.values()];
  const own = { jobs: tenant ? depthOf(tenant) : 0, bytes: tenant ? bytesWaiting(tenant) : 0 };
  const all = {
    jobs: tenants.reduce((sum, other) => sum + readyCount(other) + other.delayed.length, 0),
    bytes: tenants.reduce((sum, other) => sum + bytesWaiting(other), 0),
  };
  const { maxQueueDepth, maxQueueBytes } = model.config;
  const caps: [Cap, number | null, (given: typeof jobs) => number][] = [
    ['maxDepth', maxDepth, (given) => own.jobs + given.length],
    ['maxBytes', maxBytes, (given) => own.bytes + bytesOf(given)],
    ['maxQueueDepth', maxQueueDepth, (given) => all.jobs + given.length],
    ['maxQueueBytes', maxQueueBytes, (given) => all.bytes + bytesOf(given)],
  ];
  const passed = (given: typeof jobs) => caps.find(([, limit, used]) => limit !== null && used(given) > limit);
  const first = passed(jobs);
  if (!first) return undefined;
  const rooms = jobs.map((_, index) => index).filter((room) => passed(jobs.slice(0, room + 1)));
  return { cap: first[0], limit: first[1] ?? 0, room: rooms[0] ?? jobs.length };
}
