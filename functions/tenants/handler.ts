import { getMetrics } from '../contract/metrics.ts';
import { getQueue } from '../contract/queue.ts';
import * as contract from '../contract/tenants.ts';
import type { TenantId } from '../lib/domain/ids.ts';
import { httpHandler, on } from '../lib/lambda/http.ts';
import type { Call } from '../lib/lambda/request.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createWaker } from '../lib/lambda/waker.ts';
import { operatorOf } from '../lib/queue/operator.ts';
import type { Change } from './audit.ts';
import { tenantCalls } from './calls.ts';

const { settings, log, openQueue } = coldStart('tenants', operatorOf, 'dispatchFunction');
const calls = tenantCalls({ settings, openQueue, wake: createWaker(settings.dispatchFunction, log), log });

type ChangeCall = Pick<Call<{ tenant: TenantId }>, 'params' | 'caller'>;

const change = ({ operationId: operation }: { operationId: string }, { params, caller }: ChangeCall): Change => ({
  operation,
  tenant: params.tenant,
  caller,
});

export const handler = httpHandler({
  log,
  calls: [
    on(contract.listTenants, ({ query }) => calls.list(query)),
    on(contract.getTenant, ({ params }) => calls.show(params.tenant)),
    on(contract.putTenant, (call) =>
      calls.subscribe(change(contract.putTenant, call), call.body, call.headers['if-match']),
    ),
    on(contract.deleteTenant, (call) => calls.remove(change(contract.deleteTenant, call), 'everything')),
    on(contract.deleteTenantJobs, (call) => calls.remove(change(contract.deleteTenantJobs, call), 'jobs')),
    on(contract.pauseTenant, (call) => calls.pause(change(contract.pauseTenant, call))),
    on(contract.resumeTenant, (call) => calls.resume(change(contract.resumeTenant, call))),
    on(getQueue, () => calls.queue()),
    on(getMetrics, () => calls.metrics()),
  ],
});
