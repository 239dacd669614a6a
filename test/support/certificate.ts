import { generateKeyPairSync, sign } from 'node:crypto';

/** One element of DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const text = (value: string) => der(0x0c, Buffer.from(value));
const time = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
const extension = (id: string, value: Uint8Array) => sequence(objectId(id), der(0x04, value));

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const ALTERNATIVE_NAMES = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const DAY_MS = 86_400_000;

const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

/**
 * A certificate that signs itself, for `localhost` and 127.0.0.1, valid from yesterday to tomorrow. Built by hand, so that
 * the tests need no openssl on the machine and no key lies in the repository.
 */
export function selfSignedCertificate(): { certificate: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(objectId(COMMON_NAME), text('localhost'))));
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(Date.now() - DAY_MS)), time(new Date(Date.now() + DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension(ALTERNATIVE_NAMES, names), extension(BASIC_CONSTRAINTS, isAuthority))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    certificate: pem('CERTIFICATE', sequence(body, ECDSA_WITH_SHA256, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
