import { tenantSegment } from '../domain/ids.ts';
import { OTHER } from './metric-names.ts';

/** The label of a tenant in metrics and log lines: as in paths, since CloudWatch takes ASCII only; `other` has another meaning. */
export const tenantLabel = (tenant: string): string =>
  tenant === OTHER ? `~${Buffer.from(tenant).toString('base64url')}` : tenantSegment(tenant);
