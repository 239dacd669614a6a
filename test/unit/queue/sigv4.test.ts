import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { signedHeaders } from '../../../functions/lib/queue/sigv4.ts';

const text = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' });
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  path: fc.array(fc.stringMatching(/^[A-Za-z0-9_.~!$&'()*+,;=:@-]{1,12}$/), { maxLength: 4 }),
  query: fc.dictionary(fc.stringMatching(/^[a-zA-Z][\w-]{0,10}$/), text, { maxKeys: 3 }),
  body: text,
  service: fc.constantFrom('secretsmanager', 'execute-api'),
  region: fc.constantFrom('us-east-1', 'eu-central-1', 'cn-north-1'),
  at: fc.date({ min: new Date('2020-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
  credentials: fc.record({
    accessKeyId: fc.stringMatching(/^A[A-Z0-9]{15,19}$/),
    secretAccessKey: text,
    sessionToken: fc.option(fc.stringMatching(/^[\w+/=]{1,60}$/), { nil: undefined }),
  }),
});

it('signs a request in its headers as the signer of the AWS SDK does', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, service, region, at, credentials }) => {
      const url = new URL(`https://host.example/${path.join('/')}?${new URLSearchParams(query).toString()}`);
      const headers = { 'content-type': 'application/json', 'x-amz-target': 'a.B' };
      const { sessionToken, ...keys } = credentials;
      const signer = new SignatureV4({
        service,
        region,
        sha256: Sha256,
        credentials: { ...keys, ...(sessionToken !== undefined && { sessionToken }) },
        applyChecksum: false,
      });
      const signed = await signer.sign(
        {
          method,
          protocol: 'https:',
          hostname: url.hostname,
          path: url.pathname,
          query,
          headers: { ...headers, host: url.host },
          body,
        },
        { signingDate: at },
      );
      const ours: Record<string, string> = signedHeaders({
        method,
        url,
        headers,
        body,
        credentials,
        service,
        region,
        at,
      });
      expect(ours.authorization).toBe(signed.headers.authorization);
      expect(ours['x-amz-security-token']).toBe(sessionToken);
    }),
    { numRuns: 300 },
  );
});
