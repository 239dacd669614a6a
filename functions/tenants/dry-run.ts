import type { ForeseenBody } from '../contract/tenants.ts';
import type { PlanLimits } from '../lib/config/queue-config.ts';
import type { TenantView } from '../lib/domain/outcomes.ts';
import type { Operator, SubscriptionRecord } from '../lib/queue/queue-client.ts';

/** Tenants of a page, and most pages that are read: beyond 5,000 backlogged tenants the answer says that it is not of all. */
const PAGE = 1_000;
const PAGES = 5;
/** Most tenants that are named on either side. */
const NAMED = 20;

export interface PlanSettings {
  readonly plans: Readonly<Record<string, PlanLimits>>;
  readonly defaultPlan: string;
}

const part = (fraction: number) => Math.round(fraction * 1_000_000) / 1_000_000;

/** Whether a tenant shares the service with others now: it has jobs to serve, and nothing of its own holds it. */
const contends = ({ ready, held }: TenantView) => ready > 0 && held.length === 0;

async function backlogged(queue: Operator): Promise<{ tenants: TenantView[]; complete: boolean }> {
  const tenants: TenantView[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { tenants: some, next } = await queue.list('depth', PAGE, cursor);
    tenants.push(...some);
    if (next === null) return { tenants, complete: true };
    cursor = next;
  }
  return { tenants, complete: false };
}

/** The limits that a record would give: its overrides, else its plan's, else those of the claim's plan, else of the default plan. */
function limitsWith(record: SubscriptionRecord, { claimPlan }: TenantView, { plans, defaultPlan }: PlanSettings) {
  const name =
    [record.plan, claimPlan].find((plan) => typeof plan === 'string' && Object.hasOwn(plans, plan)) ?? defaultPlan;
  const plan = plans[name];
  const rate = record.maxJobsPerSecond ?? plan?.maxJobsPerSecond ?? null;
  return {
    plan: name,
    weight: record.weight ?? plan?.weight ?? 1,
    limits: {
      maxDepth: record.maxDepth ?? plan?.maxDepth ?? 0,
      maxConcurrency: record.maxConcurrency ?? plan?.maxConcurrency ?? 0,
      maxBytes: record.maxBytes ?? plan?.maxBytes ?? null,
      maxJobsPerSecond: rate,
      burst: rate === null ? null : (record.burst ?? plan?.burst ?? Math.max(1, Math.ceil(rate))),
    },
  };
}

/** What a subscription record would do, now: the limits it gives, and who of those that share the service gains and loses of it. */
export async function foresee(
  queue: Operator,
  view: TenantView,
  record: SubscriptionRecord,
  settings: PlanSettings,
): Promise<ForeseenBody> {
  const { tenant } = view;
  const { tenants, complete } = await backlogged(queue);
  const given = limitsWith(record, view, settings);
  const sharing = tenants.filter(contends);
  const weightAfter = (other: TenantView) => (other.tenant === tenant ? given.weight : other.weight);
  const before = sharing.reduce((sum, { weight }) => sum + weight, 0);
  const after = sharing.reduce((sum, other) => sum + weightAfter(other), 0);
  const shares = sharing.map((other) => ({
    tenant: other.tenant,
    before: part(other.weight / before),
    after: part(weightAfter(other) / after),
  }));
  const own = shares.find((share) => share.tenant === tenant);
  const by = (sign: number) =>
    shares
      .map((share) => ({ share, change: sign * (share.after - share.before) }))
      .filter(({ change }) => change > 0)
      .toSorted((a, b) => b.change - a.change || (a.share.tenant < b.share.tenant ? -1 : 1))
      .map(({ share }) => share);
  const [gains, losses] = [by(1), by(-1)];
  return {
    tenant,
    dryRun: true,
    ...given,
    share: own ? { before: own.before, after: own.after } : null,
    gains: gains.slice(0, NAMED),
    losses: losses.slice(0, NAMED),
    notNamed: Math.max(0, gains.length - NAMED) + Math.max(0, losses.length - NAMED),
    complete,
  };
}
