import type { HttpEvent } from './request.ts';

/** Who called, as the gateway has found out before it let them in. */
export type Caller =
  | { readonly by: 'token'; readonly subject?: string; readonly client?: string }
  | { readonly by: 'iam'; readonly principal?: string; readonly accessKey?: string }
  | { readonly by: 'unknown' };

/** Claims in which issuers name the application, the commonest first: RFC 9068, OpenID Connect, and Okta's own. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid'];

const textIn = (value: unknown, name: string): string | undefined => {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
};

/** Who sent a request, for the record: nothing is allowed or refused by it. */
export function callerOf({ requestContext }: HttpEvent): Caller {
  const authorizer: unknown = Reflect.get(requestContext, 'authorizer');
  if (typeof authorizer !== 'object' || authorizer === null) return { by: 'unknown' };
  const jwt: unknown = Reflect.get(authorizer, 'jwt');
  if (jwt !== undefined) {
    const claims: unknown = typeof jwt === 'object' && jwt !== null ? Reflect.get(jwt, 'claims') : undefined;
    const subject = textIn(claims, 'sub');
    const client = CLIENT_CLAIMS.map((name) => textIn(claims, name)).find((name) => name !== undefined);
    return { by: 'token', ...(subject !== undefined && { subject }), ...(client !== undefined && { client }) };
  }
  const iam: unknown = Reflect.get(authorizer, 'iam');
  if (iam === undefined) return { by: 'unknown' };
  const principal = textIn(iam, 'userArn');
  const accessKey = textIn(iam, 'accessKey');
  return { by: 'iam', ...(principal !== undefined && { principal }), ...(accessKey !== undefined && { accessKey }) };
}
