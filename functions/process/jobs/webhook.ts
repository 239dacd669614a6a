import { fromEnv } from '../../lib/config/env.ts';
import { defineJob } from './job.ts';
import { callWebhook, webhookPayload } from './webhook-call.ts';

const { allowedHosts } = fromEnv(process.env).webhook;

/** Sends its payload's `body` as JSON to its `url`. */
export default defineJob(webhookPayload, (job, { signal }) => callWebhook(job, { allowedHosts, signal }));
