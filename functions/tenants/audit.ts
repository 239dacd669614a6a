import type { TenantId } from '../lib/domain/ids.ts';
import type { TenantView } from '../lib/domain/outcomes.ts';
import type { Caller } from '../lib/lambda/caller.ts';
import type { Log } from '../lib/telemetry/logger.ts';
import { tenantLabel } from '../lib/telemetry/tenant-label.ts';
import { said } from './views.ts';

/** A change that an operator asked for. */
export interface Change {
  /** As the contract names it: `putTenant`. */
  readonly operation: string;
  readonly tenant: TenantId;
  readonly caller: Caller;
}

/** What operators can change of a tenant. */
const stateOf = (view: TenantView) => ({
  record: said(view.record),
  plan: view.plan,
  paused: view.held.includes('paused'),
  ready: view.ready,
  delayed: view.delayed,
  inFlight: view.inFlight,
  dead: view.dead,
});

/**
 * Writes the line of a change for those who ask later who did what. The numbers of jobs go on changing meanwhile.
 *
 * @param after absent when nobody knows whether the change was made
 */
export function tellChange(log: Log, change: Change, before: TenantView, after: TenantView | undefined): void {
  const { operation, tenant, caller } = change;
  log.info('audit', {
    event: 'audit',
    operation,
    tenant: tenantLabel(tenant),
    caller,
    before: stateOf(before),
    after: after === undefined ? null : stateOf(after),
  });
}
