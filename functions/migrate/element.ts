import { PAYLOAD_MAX_BYTES, payloadText } from '../lib/domain/payload.ts';
import { tenantIdFault } from '../lib/domain/ids.ts';
import { atPath, nameAt } from '../lib/domain/path.ts';
import type { NewJob } from '../lib/queue/queue-client.ts';

/** How the elements of a list are written. */
export type Format = 'resque' | 'bullmq' | 'jsonl';

export interface ElementRules {
  readonly format: Format;
  /** Where the tenant stands in an element, such as `args[0].account_id`; unused for `jsonl`, whose lines have a field for it. */
  readonly tenantPath: string;
  /** What a class or name of the old queue is called here; others keep their names. */
  readonly types: Readonly<Record<string, string>>;
  /** The job types there are; null = any. */
  readonly knownTypes: readonly string[] | null;
  readonly maxAttempts: number;
}

/** An element as a job, or why it cannot be one. */
export type Read = { readonly tenant: string; readonly job: NewJob } | { readonly reason: string };

function tenantAt(value: unknown, path: string): { tenant: string } | { reason: string } {
  const tenant = nameAt(value, path);
  if (tenant === undefined) return { reason: `no tenant at ${path}` };
  const fault = tenantIdFault(tenant);
  return fault === undefined ? { tenant } : { reason: `no tenant id at ${path}: expected ${fault}` };
}

const LONGEST_DELAY_MS = 30 * 86_400_000;
const inRange = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;

/** Where each format keeps what makes a job. */
const fieldsOf: Readonly<Record<Format, (element: unknown, source: string) => Record<string, unknown>>> = {
  // The whole element, so that it goes back as it came.
  resque: (element, source) => ({ type: atPath(element, 'class'), payload: element, source }),
  bullmq: (element) => ({
    type: atPath(element, 'name'),
    payload: atPath(element, 'data'),
    maxAttempts: atPath(atPath(element, 'opts'), 'attempts'),
  }),
  jsonl: (element) => ({
    type: atPath(element, 'type'),
    payload: atPath(element, 'payload'),
    maxAttempts: atPath(element, 'maxAttempts'),
    cost: atPath(element, 'cost'),
    delaySeconds: atPath(element, 'delaySeconds'),
  }),
};

/** Reads an element of the old queue. */
export function readElement(text: string, rules: ElementRules): Read {
  let element: unknown;
  try {
    element = JSON.parse(text);
  } catch {
    return { reason: 'not JSON' };
  }
  const {
    type: given,
    payload,
    source,
    maxAttempts,
    cost,
    delaySeconds,
  } = fieldsOf[rules.format](element, text.trim());
  const owner = rules.format === 'bullmq' ? payload : element;
  const found = tenantAt(owner, rules.format === 'jsonl' ? 'tenant' : rules.tenantPath);
  if ('reason' in found) return found;
  if (typeof given !== 'string' || given === '') return { reason: 'no job type' };
  const type = Object.hasOwn(rules.types, given) ? (rules.types[given] ?? given) : given;
  if (type.length > 64) return { reason: 'a job type of more than 64 characters' };
  if (rules.knownTypes !== null && !rules.knownTypes.includes(type)) return { reason: `unknown job type ${type}` };
  if (payload === undefined) return { reason: 'no payload' };
  const kept = typeof source === 'string' ? { text: source, bytes: Buffer.byteLength(source) } : payloadText(payload);
  if ('fault' in kept) return { reason: `a payload that is not ${kept.fault}` };
  if (kept.bytes > PAYLOAD_MAX_BYTES) return { reason: `a payload of more than ${PAYLOAD_MAX_BYTES} bytes` };
  const job: NewJob = {
    type,
    payload: kept.text,
    delayMs: inRange(delaySeconds, 0, LONGEST_DELAY_MS / 1000) ? Math.round(delaySeconds * 1000) : 0,
    cost: inRange(cost, 0.01, 1_000) ? cost : 1,
    maxAttempts: inRange(maxAttempts, 1, 100) ? Math.round(maxAttempts) : rules.maxAttempts,
    timeoutSeconds: 0,
  };
  return { tenant: found.tenant, job };
}

/** A job as an element of a list again. What came as one of Resque goes back as it came. */
export function writeElement(format: Exclude<Format, 'bullmq'>, job: Exported): string {
  const { tenant, type, payload, maxAttempts, cost, readySinceMs } = job;
  if (format === 'jsonl') {
    const delaySeconds = (readySinceMs - Date.now()) / 1000;
    const rest = JSON.stringify({
      tenant,
      type,
      maxAttempts,
      ...(cost !== 1 && { cost }),
      ...(delaySeconds > 0 && { delaySeconds }),
    }).slice(0, -1);
    return `${rest},"payload":${payload}}`;
  }
  const element: unknown = JSON.parse(payload);
  const isResque = typeof atPath(element, 'class') === 'string' && Array.isArray(atPath(element, 'args'));
  return isResque ? payload : `{"class":${JSON.stringify(type)},"args":[${payload}]}`;
}

interface Exported extends Pick<NewJob, 'type' | 'payload' | 'maxAttempts' | 'cost'> {
  readonly tenant: string;
  /** In the future for a delayed job: when it is due. */
  readonly readySinceMs: number;
}
