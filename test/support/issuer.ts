import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll } from 'vitest';

export interface TokenOptions {
  readonly claims?: Record<string, unknown>;
  readonly issuer?: string;
  readonly audience?: string | string[];
  /** As jose takes it: `1h`, `-1m`. */
  readonly expires?: string;
  /** Signed with a key that the issuer does not publish, under the id of the one it does. */
  readonly forged?: boolean;
}

/** Who issues tokens: a server of the test that publishes its key, and signs what it is asked to. */
export interface Issuer {
  readonly url: string;
  /** A token for audience `rota`, good for an hour, unless said otherwise. */
  token(options?: TokenOptions): Promise<string>;
}

/** Starts an issuer that ends with the file's tests. */
export async function startIssuer(): Promise<Issuer> {
  const [published, secret] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(published.publicKey)), kid: 'one', alg: 'RS256' };
  const server = createServer((request, response) => {
    const known = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys: [jwk] },
    };
    const answer = Object.entries(known).find(([path]) => path === request.url)?.[1];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  return {
    url,
    async token({ claims = {}, issuer = url, audience = 'rota', expires = '1h', forged = false } = {}) {
      const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).setIssuer(issuer);
      const { privateKey } = forged ? secret : published;
      return await jwt.setAudience(audience).setIssuedAt().setExpirationTime(expires).sign(privateKey);
    },
  };
}
