import { directEnqueue, enqueueJobs } from '../contract/jobs.ts';
import { getHealth } from '../contract/queue.ts';
import { httpHandler, on, onDirect } from '../lib/lambda/http.ts';
import { coldStart } from '../lib/lambda/runtime.ts';
import { createWaker } from '../lib/lambda/waker.ts';
import { producerOf } from '../lib/queue/producer.ts';
import { enqueueCalls } from './calls.ts';

const { settings, log, openQueue } = coldStart('enqueue', producerOf, 'dispatchFunction', 'jobTypes');
const calls = enqueueCalls({ settings, openQueue, wake: createWaker(settings.dispatchFunction, log), log });

export const handler = httpHandler({
  log,
  calls: [
    on(enqueueJobs, (call) => {
      const { 'idempotency-key': idempotencyKey, traceparent } = call.headers;
      return calls.enqueue(call.body, { idempotencyKey, traceparent }, call);
    }),
    on(getHealth, () => calls.health()),
  ],
  direct: onDirect(directEnqueue, ({ idempotencyKey, traceparent, ...body }) => {
    const call = { claims: undefined, direct: true, source: undefined };
    return calls.enqueue(body, { idempotencyKey, traceparent }, call);
  }),
});
