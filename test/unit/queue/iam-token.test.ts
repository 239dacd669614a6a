import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { iamToken } from '../../../functions/lib/queue/iam-token.ts';

// The signatures were made by @smithy/signature-v4 (presign, 900 s) for the same values.
it.each([
  {
    request: {
      name: 'Ro1abc2DEF',
      user: 'rota-default',
      region: 'eu-central-1',
      at: new Date('2026-11-30T09:05:07.123Z'),
      credentials: {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        sessionToken: "IQoJb3JpZ2luX2VjEJr//////+==!'()* ~é",
      },
    },
    token:
      'ro1abc2def/?Action=connect&User=rota-default&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      '&X-Amz-Credential=AKIDEXAMPLE%2F20261130%2Feu-central-1%2Felasticache%2Faws4_request&X-Amz-Date=20261130T090507Z' +
      '&X-Amz-Expires=900&X-Amz-Security-Token=IQoJb3JpZ2luX2VjEJr%2F%2F%2F%2F%2F%2F%2B%3D%3D%21%27%28%29%2A%20~%C3%A9' +
      '&X-Amz-SignedHeaders=host&X-Amz-Signature=784925fe24a5818be6a9ff13891db421d544bf4b23a01bd58228f4d760ea1cdb',
  },
  {
    request: {
      name: 'queue',
      user: 'u',
      region: 'us-east-1',
      at: new Date('2027-01-01T00:00:00.000Z'),
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: undefined },
    },
    token:
      'queue/?Action=connect&User=u&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      '&X-Amz-Credential=AKIDEXAMPLE%2F20270101%2Fus-east-1%2Felasticache%2Faws4_request&X-Amz-Date=20270101T000000Z' +
      '&X-Amz-Expires=900&X-Amz-SignedHeaders=host' +
      '&X-Amz-Signature=861331ef2777ee073168b0819ec63434e3067ddb58395201ec9d29cb6220c0d0',
  },
])('signs the token of $request.user as another implementation does', ({ request, token }) => {
  expect(iamToken(request)).toBe(token);
});

const credential = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme-ascii' });
const request = fc.record({
  name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,39}$/),
  user: fc.stringMatching(/^[a-z][a-z0-9-]{0,39}$/),
  region: fc.constantFrom('us-east-1', 'eu-central-1', 'ap-southeast-2', 'cn-north-1', 'us-gov-west-1'),
  at: fc.date({ min: new Date('2020-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
  credentials: fc.record({
    accessKeyId: fc.stringMatching(/^A[A-Z0-9]{15,19}$/),
    secretAccessKey: credential,
    sessionToken: fc.option(credential, { nil: undefined }),
  }),
});

/** The same by the signer of the AWS SDK. */
async function presigned({ name, user, region, at, credentials }: Parameters<typeof iamToken>[0]): Promise<string> {
  const { sessionToken, ...keys } = credentials;
  const signer = new SignatureV4({
    service: 'elasticache',
    region,
    sha256: Sha256,
    credentials: { ...keys, ...(sessionToken !== undefined && { sessionToken }) },
  });
  const host = name.toLowerCase();
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname: host,
      path: '/',
      headers: { host },
      query: { Action: 'connect', User: user },
    },
    { expiresIn: 900, signingDate: at },
  );
  const query = Object.entries(signed.query ?? {}).map(([key, value]) => [key, String(value)] as const);
  return `${host}/?${JSON.stringify(query.toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}

it('signs whatever it is given as the signer of the AWS SDK does', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const token = iamToken(given);
      const [host = '', query = ''] = token.split('/?');
      const parts = [...new URLSearchParams(query.replaceAll('+', '%2B'))].toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(`${host}/?${JSON.stringify(parts)}`).toBe(await presigned(given));
    }),
    { numRuns: 300 },
  );
});
