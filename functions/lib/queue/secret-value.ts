import { type Credentials, signedHeaders } from './sigv4.ts';

interface SecretRequest {
  /** Name or ARN of the secret. */
  readonly secretId: string;
  readonly region: string;
  /** URL of the service. */
  readonly endpoint: string;
  readonly credentials: Credentials;
}

/** Below what a command waits for its connection, twice: an endpoint that says nothing must not hold both. */
const ANSWER_MS = 1_000;

const read = (answer: unknown, field: string): unknown =>
  typeof answer === 'object' && answer !== null ? Reflect.get(answer, field) : undefined;

const regional = (region: string, dualStack: boolean): string =>
  `https://secretsmanager.${region}.${dualStack ? 'api.aws' : `amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`}/`;

/** Where the service is asked: as the SDKs of AWS decide it. */
export const secretsEndpoint = (region: string, env: Readonly<Record<string, string | undefined>>): string =>
  env.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? regional(region, env.AWS_USE_DUALSTACK_ENDPOINT === 'true');

/**
 * The text of a secret, as Secrets Manager holds it now.
 *
 * @throws Error naming the secret, with the service's word for why, when it cannot be had within a second.
 */
export async function secretValue({ secretId, region, endpoint, credentials }: SecretRequest): Promise<string> {
  const url = new URL(endpoint);
  const body = JSON.stringify({ SecretId: secretId });
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' };
  const signed = { method: 'POST', url, headers, body, credentials, region, service: 'secretsmanager', at: new Date() };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: signedHeaders(signed),
      body,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const answer: unknown = await response.json();
    const secret = read(answer, 'SecretString');
    if (typeof secret === 'string') return secret;
    // The service's own words never hold the secret, and what else the answer holds is not repeated.
    const reason = read(answer, '__type');
    throw new Error(`answered ${response.status} ${typeof reason === 'string' ? reason : 'without a SecretString'}`);
  } catch (error) {
    throw new Error(`Secrets Manager does not give ${secretId}`, { cause: error });
  }
}
