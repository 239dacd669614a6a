import { getMetrics } from '../contract/metrics.ts';
import { getQueue } from '../contract/queue.ts';
import * as contract from '../contract/tenants.ts';
import { httpHandler, on } from '../lib/lambda/http.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createWaker } from '../lib/lambda/waker.ts';
import { tenantCalls } from './calls.ts';

const { settings, log, openQueue } = coldStart('tenants', 'dispatchFunction');
const calls = tenantCalls({ settings, openQueue, wake: createWaker(settings.dispatchFunction, log) });

export const handler = httpHandler({
  log,
  calls: [
    on(contract.listTenants, ({ query }) => calls.list(query)),
    on(contract.getTenant, ({ params }) => calls.show(params.tenant)),
    on(contract.putTenant, ({ params, body }) => calls.subscribe(params.tenant, body)),
    on(contract.deleteTenant, ({ params }) => calls.remove(params.tenant, 'everything')),
    on(contract.deleteTenantJobs, ({ params }) => calls.remove(params.tenant, 'jobs')),
    on(contract.pauseTenant, ({ params }) => calls.pause(params.tenant)),
    on(contract.resumeTenant, ({ params }) => calls.resume(params.tenant)),
    on(getQueue, () => calls.queue()),
    on(getMetrics, () => calls.metrics()),
  ],
});
