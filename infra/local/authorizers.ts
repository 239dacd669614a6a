import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { messageOf } from './errors.ts';
import type { Authorization } from './http-routes.ts';
import { isObject } from './template.ts';

/** `context` goes into the event's request context; a refusal is the status that the gateway answers. */
export type Authorized = { allowed: true; context: unknown } | { allowed: false; status: 401 | 403 };

type KeySet = ReturnType<typeof createRemoteJWKSet>;

// The gateway takes RSA signatures only.
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];

/**
 * Decides about a caller as the gateway does. IAM callers are taken for granted: there are no identities here to check
 * a signature against. JWTs are verified against the issuer's published keys.
 */
export class Authorizers {
  readonly #keys = new Map<string, Promise<KeySet>>();
  readonly #accountId: string;
  readonly #onProblem: (line: string) => void;

  constructor(accountId: string, onProblem: (line: string) => void) {
    this.#accountId = accountId;
    this.#onProblem = onProblem;
  }

  async authorize(authorization: Authorization, header: string | undefined): Promise<Authorized> {
    switch (authorization.type) {
      case 'none':
        return { allowed: true, context: undefined };
      case 'iam':
        return { allowed: true, context: { iam: this.#iamContext(header) } };
      case 'jwt':
        return await this.#verify(authorization, header);
      default:
        return authorization satisfies never;
    }
  }

  #iamContext(header: string | undefined): Record<string, unknown> {
    const accessKey = /Credential=([^/,\s]+)\//.exec(header ?? '')?.[1] ?? 'AKIALOCALDEVELOPER00';
    return {
      accessKey,
      accountId: this.#accountId,
      callerId: 'AIDALOCALDEVELOPER00',
      cognitoIdentity: null,
      principalOrgId: null,
      userArn: `arn:aws:iam::${this.#accountId}:user/local`,
      userId: 'AIDALOCALDEVELOPER00',
    };
  }

  async #verify(
    authorization: Extract<Authorization, { type: 'jwt' }>,
    header: string | undefined,
  ): Promise<Authorized> {
    const token = header?.replace(/^bearer\s+/i, '').trim();
    if (!token) return { allowed: false, status: 401 };
    const { issuer, audience, scopes } = authorization;
    let claims: JWTPayload;
    try {
      const keys = await this.#keysOf(issuer);
      ({ payload: claims } = await jwtVerify(token, keys, { issuer, algorithms: ALGORITHMS, requiredClaims: ['exp'] }));
    } catch (error) {
      // A token that is no good is the caller's affair; an issuer that cannot be reached is the developer's.
      if (!(error instanceof errors.JOSEError)) this.#onProblem(`JWT issuer ${issuer}: ${messageOf(error)}`);
      return { allowed: false, status: 401 };
    }
    const audiences = [claims.aud ?? claims.client_id].flat();
    if (!audience.some((expected) => audiences.includes(expected))) return { allowed: false, status: 401 };
    const held = scopesOf(claims);
    if (scopes.length > 0 && !scopes.some((scope) => held.includes(scope))) return { allowed: false, status: 403 };
    const context = { jwt: { claims: flatten(claims), scopes: scopes.length > 0 ? held : null } };
    return { allowed: true, context };
  }

  #keysOf(issuer: string): Promise<KeySet> {
    const known = this.#keys.get(issuer);
    if (known) return known;
    const keys = findKeys(issuer);
    this.#keys.set(issuer, keys);
    // An issuer that was down is asked again at the next request.
    keys.catch(() => this.#keys.delete(issuer));
    return keys;
  }
}

async function findKeys(issuer: string): Promise<KeySet> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const configuration: unknown = await response.json();
  if (!isObject(configuration) || typeof configuration.jwks_uri !== 'string') {
    throw new Error('its openid-configuration names no jwks_uri');
  }
  return createRemoteJWKSet(new URL(configuration.jwks_uri));
}

function scopesOf({ scope, scp }: JWTPayload): string[] {
  const value = scope ?? scp;
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value.split(' ').filter(Boolean) : [];
}

/** The gateway hands every claim on as text: arrays as `[a b]`, numbers and booleans as they are written. */
function flatten(claims: JWTPayload): Record<string, string> {
  const text = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(text).join(' ')}]`;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, text(value)]));
}
