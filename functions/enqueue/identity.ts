import { isTenantId, type TenantId } from '../lib/domain/ids.ts';
import { RequestProblem } from '../lib/domain/problems.ts';
import type { Call, Claims } from '../lib/lambda/request.ts';

/** How the API knows its callers. */
export interface Auth {
  readonly api: 'iam' | 'jwt';
  readonly jwt: { readonly tenantClaim: string; readonly planClaim: string };
}

/** Whose jobs a call may enqueue, and the plan that the caller's token names. */
export interface Identity {
  readonly tenant: TenantId;
  readonly plan: string | undefined;
}

const textClaim = (claims: Claims, name: string): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

function ofToken(claims: Claims, named: TenantId | undefined, jwt: Auth['jwt']): Identity {
  const tenant = textClaim(claims, jwt.tenantClaim);
  if (tenant === undefined || !isTenantId(tenant)) {
    throw new RequestProblem('tenant_forbidden', `The token has no claim ${jwt.tenantClaim} that is a tenant id.`);
  }
  if (named !== undefined && named !== tenant) {
    throw new RequestProblem(
      'tenant_forbidden',
      'The token is for another tenant than the body names; leave tenant out.',
    );
  }
  return { tenant, plan: jwt.planClaim === '' ? undefined : textClaim(claims, jwt.planClaim) };
}

/**
 * With tokens the tenant is who the token says; whoever AWS itself has let through names the tenant.
 *
 * @throws RequestProblem 400 when nobody names a tenant, 403 when the token is for none or another
 */
export function identify(
  { claims, direct }: Pick<Call, 'claims' | 'direct'>,
  named: TenantId | undefined,
  auth: Auth,
): Identity {
  if (auth.api === 'jwt' && !direct) return ofToken(claims ?? {}, named, auth.jwt);
  if (named !== undefined) return { tenant: named, plan: undefined };
  const detail = 'missing, expected a tenant id';
  throw new RequestProblem('invalid_request', `At tenant: ${detail}.`, {
    errors: [{ in: 'body', path: 'tenant', detail }],
  });
}
