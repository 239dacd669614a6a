import { fromEnv } from '../../lib/config/env.ts';
import { defineJob } from './job.ts';
import { callWebhook, webhookPayload } from './webhook-call.ts';

const { allowedHosts, signingSecret } = fromEnv(process.env).webhook;
const keys = signingSecret === '' ? [] : fromEnv(process.env, 'webhookKeys').webhookKeys;

/** Sends its payload's `body` as JSON to its `url`, signed when the queue has keys for that. */
export default defineJob(webhookPayload, (job, { signal }) => callWebhook(job, { allowedHosts, keys, signal }));
