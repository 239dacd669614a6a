import { OTHER } from '../../../functions/lib/telemetry/metric-names.ts';

/** The tenant that a dimension's value stands for; null for all others together. */
export function tenantOf(label: string): string | null {
  if (label === OTHER) return null;
  return label.startsWith('~') ? Buffer.from(label.slice(1), 'base64url').toString('utf8') : label;
}
