import { ALGORITHM, type Credentials, encode, scopeOf, sha256, signatureOf, timeOf } from './sigv4.ts';

interface TokenRequest {
  readonly user: string;
  /** Id of the replication group; signed in lower case, as ElastiCache keeps it. */
  readonly name: string;
  readonly region: string;
  readonly credentials: Credentials;
  readonly at: Date;
}

/** ElastiCache takes a token for this long. It only opens connections: an open one lasts, for up to 12 hours. */
const LIFE_SECONDS = 900;

/** The password with which a user of ElastiCache connects: a signed URL without its scheme. */
export function iamToken({ user, name, region, credentials, at }: TokenRequest): string {
  const host = name.toLowerCase();
  const scope = { region, service: 'elasticache', at };
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const parameters: [string, string][] = [
    ['Action', 'connect'],
    ['User', user],
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${accessKeyId}/${scopeOf(scope)}`],
    ['X-Amz-Date', timeOf(at)],
    ['X-Amz-Expires', String(LIFE_SECONDS)],
    ...(sessionToken === undefined ? [] : [['X-Amz-Security-Token', sessionToken] as [string, string]]),
    ['X-Amz-SignedHeaders', 'host'],
  ];
  // Listed in the order of their names, which the signature is made over.
  const query = parameters.map(([key, value]) => `${key}=${encode(value)}`).join('&');
  const request = ['GET', '/', query, `host:${host}`, '', 'host', sha256('')].join('\n');
  return `${host}/?${query}&X-Amz-Signature=${signatureOf(request, scope, secretAccessKey)}`;
}
