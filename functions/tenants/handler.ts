import { httpHandler } from '../lib/lambda/http.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createWaker } from '../lib/lambda/waker.ts';
import { operatorOf } from '../lib/queue/operator.ts';
import { operatorRoutes } from './routes.ts';

/** Well within the 29 s that the function has, and the 30 s that the gateway waits. */
const PURGE_MS = 20_000;

const { settings, log, openQueue } = coldStart('tenants', operatorOf, 'dispatchFunction');
const wake = createWaker(settings.dispatchFunction, log);

export const handler = httpHandler({
  log,
  calls: operatorRoutes({ settings, openQueue, wake, log, purgeMs: PURGE_MS }),
});
