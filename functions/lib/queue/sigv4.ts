import { createHash, createHmac } from 'node:crypto';

/** The keys of a role, as Lambda puts them into the environment of a function. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** What a signature is good for: a service of a region, on one day. */
interface Scope {
  readonly region: string;
  readonly service: string;
  readonly at: Date;
}

/** A request whose signature stands in its headers. */
interface HeaderRequest extends Scope {
  readonly method: string;
  readonly url: URL;
  /** Without the host, which is always signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly credentials: Credentials;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Percent-encodes for the canonical form: encodeURIComponent leaves some signs alone that the signature does not. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** As a signature writes a moment: `20261130T090507Z`. */
export const timeOf = (at: Date): string => `${at.toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;

export const scopeOf = ({ region, service, at }: Scope): string =>
  `${timeOf(at).slice(0, 8)}/${region}/${service}/aws4_request`;

/**
 * The signature over a canonical request, by Signature Version 4 of AWS. Made here and not by the AWS SDK, of which functions
 * that only talk to Redis would carry 350 KB for these lines.
 */
export function signatureOf(canonicalRequest: string, scope: Scope, secretAccessKey: string): string {
  const toSign = [ALGORITHM, timeOf(scope.at), scopeOf(scope), sha256(canonicalRequest)].join('\n');
  const key = scopeOf(scope).split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

const compare = (a = '', b = '') => Number(a > b) - Number(a < b);
const byNameThenValue = (a: readonly string[], b: readonly string[]) => compare(a[0], b[0]) || compare(a[1], b[1]);

/** The headers of a request with those that sign it: date, token of the session where there is one, authorization. */
export function signedHeaders({ method, url, headers, body, credentials, ...scope }: HeaderRequest) {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const own: Record<string, string> = {
    ...headers,
    'x-amz-date': timeOf(scope.at),
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const signed = Object.entries({ ...own, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')] as const)
    .toSorted(byNameThenValue);
  const names = signed.map(([name]) => name).join(';');
  const query = [...url.searchParams]
    .map((pair) => pair.map(encode))
    .toSorted(byNameThenValue)
    .map((pair) => pair.join('='))
    .join('&');
  // Every service but S3 signs the path encoded once more than it is sent.
  const path = url.pathname.split('/').map(encode).join('/');
  const lines = signed.map(([name, value]) => `${name}:${value}`);
  const canonical = [method, path, query, ...lines, '', names, sha256(body)].join('\n');
  const signature = signatureOf(canonical, scope, secretAccessKey);
  return {
    ...own,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scopeOf(scope)}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
