import { createHmac } from 'node:crypto';

/** The keys are written as Standard Webhooks has them: this, then base64. */
const KEY_PREFIX = 'whsec_';

/**
 * The headers that prove where a webhook comes from, by Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 over
 * id, time and body, once with each key, so that a receiver may know either of two while they are changed.
 *
 * @param id of the job, the same at each attempt: a receiver can tell by it what has come before
 * @param atSeconds when it is sent, in seconds since the epoch; receivers refuse what is old
 */
export function signatureHeaders(
  id: string,
  atSeconds: number,
  body: Uint8Array,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = keys.map((key) => {
    const secret = Buffer.from(key.slice(KEY_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', secret).update(`${id}.${atSeconds}.`).update(body).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
