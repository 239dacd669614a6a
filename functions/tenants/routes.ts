import { getMetrics } from '../contract/metrics.ts';
import * as dead from '../contract/dead.ts';
import { deleteQueueJobs, getQueue, putQueue } from '../contract/queue.ts';
import * as contract from '../contract/tenants.ts';
import { listTenantJobs } from '../contract/waiting-jobs.ts';
import type { TenantId } from '../lib/domain/ids.ts';
import { on } from '../lib/lambda/http.ts';
import type { Call } from '../lib/lambda/request.ts';
import type { Change } from './audit.ts';
import { tenantCalls } from './calls.ts';
import { jobCalls } from './job-calls.ts';
import { queueCalls } from './queue-calls.ts';

type ChangeCall = Pick<Call<{ tenant: TenantId }>, 'params' | 'caller'>;

const change = ({ operationId: operation }: { operationId: string }, { params, caller }: ChangeCall): Change => ({
  operation,
  tenant: params.tenant,
  caller,
});

/** The routes of operators and billing, and what each of them does. */
export function operatorRoutes(options: Parameters<typeof tenantCalls>[0] & Parameters<typeof queueCalls>[0]) {
  const calls = tenantCalls(options);
  const jobs = jobCalls(options);
  const queue = queueCalls(options);
  return [
    on(contract.listTenants, ({ query }) => calls.list(query)),
    on(contract.getTenant, ({ params }) => calls.show(params.tenant)),
    on(contract.putTenant, (call) =>
      call.query.dryRun === 'true'
        ? calls.foresee(call.params.tenant, call.body)
        : calls.subscribe(change(contract.putTenant, call), call.body, call.headers['if-match']),
    ),
    on(contract.deleteTenant, (call) => calls.remove(change(contract.deleteTenant, call), 'everything')),
    on(contract.deleteTenantJobs, (call) => calls.remove(change(contract.deleteTenantJobs, call), 'jobs')),
    on(contract.pauseTenant, (call) => calls.pause(change(contract.pauseTenant, call))),
    on(contract.resumeTenant, (call) => calls.resume(change(contract.resumeTenant, call))),
    on(listTenantJobs, ({ params, query }) => jobs.waiting(params.tenant, query)),
    on(dead.listDead, ({ params, query }) => jobs.dead(params.tenant, query)),
    on(dead.dropAllDead, (call) => jobs.drop(change(dead.dropAllDead, call))),
    on(dead.dropDead, (call) => jobs.drop(change(dead.dropDead, call), call.params.job)),
    on(dead.redriveAllDead, (call) => jobs.redrive(change(dead.redriveAllDead, call))),
    on(dead.redriveDead, (call) => jobs.redrive(change(dead.redriveDead, call), call.params.job)),
    on(getQueue, () => queue.show()),
    on(putQueue, ({ caller, body }) => queue.steer({ operation: putQueue.operationId, caller }, body)),
    on(deleteQueueJobs, ({ caller }) => queue.purge({ operation: deleteQueueJobs.operationId, caller })),
    on(getMetrics, () => calls.metrics()),
  ];
}
