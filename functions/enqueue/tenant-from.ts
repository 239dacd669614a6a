import type { EnqueueBody } from '../contract/jobs.ts';
import { isTenantId, type TenantId, tenantIdFault } from '../lib/domain/ids.ts';
import { nameAt } from '../lib/domain/path.ts';
import type { Fault } from '../lib/domain/problems.ts';
import { rejectFaults } from '../lib/lambda/request.ts';

/**
 * The tenant that a request names: in its envelope, else in the payloads, at the path of the setting `tenantFrom` ('' = nowhere).
 *
 * @throws RequestProblem 400 naming each payload that names no tenant where the envelope has none, or another one
 */
export function namedTenant({ tenant, jobs }: EnqueueBody, tenantFrom: string): TenantId | undefined {
  if (tenantFrom === '') return tenant;
  const names = jobs.map(({ payload }) => nameAt(payload, tenantFrom));
  const wanted = tenant ?? names.find((name) => name !== undefined);
  const faults = names.flatMap((name, index): Fault[] => {
    const fault = (detail: string) => [{ in: 'body' as const, path: `jobs[${index}].payload.${tenantFrom}`, detail }];
    // An envelope speaks for payloads that say nothing.
    if (name === undefined)
      return tenant === undefined ? fault('names no tenant, expected a text or a whole number') : [];
    if (name !== wanted) {
      const given = `names tenant ${JSON.stringify(name.slice(0, 40))}`;
      return fault(
        `${given}, expected ${JSON.stringify(wanted?.slice(0, 40))}: a request is for one tenant, send one for each`,
      );
    }
    const wrong = tenantIdFault(name);
    return wrong === undefined ? [] : fault(`names no tenant, expected ${wrong}`);
  });
  rejectFaults(faults);
  return wanted !== undefined && isTenantId(wanted) ? wanted : undefined;
}
