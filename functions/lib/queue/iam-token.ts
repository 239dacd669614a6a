import { createHash, createHmac } from 'node:crypto';

/** The keys of a role, as Lambda puts them into the environment of a function. */
interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

interface TokenRequest {
  readonly user: string;
  /** Id of the replication group; signed in lower case, as ElastiCache keeps it. */
  readonly name: string;
  readonly region: string;
  readonly credentials: Credentials;
  readonly at: Date;
}

const SERVICE = 'elasticache';
/** ElastiCache takes a token for this long. It only opens connections: an open one lasts, for up to 12 hours. */
const LIFE_SECONDS = 900;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

// encodeURIComponent leaves these alone, the signature's canonical form does not.
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The password with which a user of ElastiCache connects: a signed URL (Signature Version 4) without its scheme. Made
 * here and not by the AWS SDK, of which functions that only talk to Redis would carry 350 KB for these lines.
 */
export function iamToken({ user, name, region, credentials, at }: TokenRequest): string {
  const host = name.toLowerCase();
  const time = `${at.toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/${SERVICE}/aws4_request`;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const parameters: [string, string][] = [
    ['Action', 'connect'],
    ['User', user],
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${accessKeyId}/${scope}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(LIFE_SECONDS)],
    ...(sessionToken === undefined ? [] : [['X-Amz-Security-Token', sessionToken] as [string, string]]),
    ['X-Amz-SignedHeaders', 'host'],
  ];
  // Listed in the order of their names, which the signature is made over.
  const query = parameters.map(([key, value]) => `${key}=${encode(value)}`).join('&');
  const request = ['GET', '/', query, `host:${host}`, '', 'host', sha256('')].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const key = [day, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return `${host}/?${query}&X-Amz-Signature=${hmac(key, toSign).toString('hex')}`;
}
