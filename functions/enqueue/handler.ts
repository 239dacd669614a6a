import { directEnqueue, type EnqueueBody, enqueueJobs } from '../contract/jobs.ts';
import { longestJobSeconds } from '../lib/config/relations.ts';
import { httpHandler, on, onDirect } from '../lib/lambda/http.ts';
import type { Call } from '../lib/lambda/request.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createWaker } from '../lib/lambda/waker.ts';
import { enqueueAnswer, tellRefusal } from './answers.ts';
import { identify } from './identity.ts';
import { newJobs } from './new-jobs.ts';

const { settings, log, openQueue } = coldStart('enqueue', 'dispatchFunction', 'jobTypes');
const wake = createWaker(settings.dispatchFunction, log);
const rules = {
  jobTypes: settings.jobTypes,
  maxAttempts: settings.retry.maxAttempts,
  longestSeconds: longestJobSeconds(settings),
};

async function enqueue(
  body: EnqueueBody,
  idempotencyKey: string | undefined,
  call: Pick<Call, 'claims' | 'direct' | 'source'>,
) {
  const { tenant, plan } = identify(call, body.tenant, settings.auth);
  const jobs = newJobs(body, call.source, rules);
  const queue = await openQueue();
  const outcome = await queue.enqueue({ tenant, claimPlan: plan, idempotencyKey, jobs });
  if (outcome.outcome === 'accepted' && outcome.dispatch) await wake();
  tellRefusal(log, settings.metricsName, tenant, jobs.length, outcome);
  return enqueueAnswer(tenant, jobs.length, outcome);
}

export const handler = httpHandler({
  log,
  calls: [on(enqueueJobs, (call) => enqueue(call.body, call.headers['idempotency-key'], call))],
  direct: onDirect(directEnqueue, ({ idempotencyKey, ...body }) =>
    enqueue(body, idempotencyKey, { claims: undefined, direct: true, source: undefined }),
  ),
});
