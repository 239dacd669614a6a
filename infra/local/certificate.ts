import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { removeAtEnd } from './children.ts';

/** What a server of this machine shows its clients, and what they need to trust it. */
interface Certificate {
  /** PEM; signed by itself, for `localhost` and 127.0.0.1. */
  readonly certificate: string;
  /** Files of the certificate and of its key, as long as this process runs. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

const DAY_MS = 86_400_000;

/** A certificate of its own, whose files go with this process. Valid from yesterday on, for clocks that tests move. */
async function makeCertificate(): Promise<Certificate> {
  const { cert: certificate, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + 30 * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'rota-tls-'));
  removeAtEnd(folder);
  const [certificateFile, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  await writeFile(certificateFile, certificate);
  await writeFile(keyFile, key, { mode: 0o600 });
  return { certificate, certificateFile, keyFile };
}

/** Who may do everything in the Redis servers that this process starts. */
export const ADMIN = 'admin';

/** Certificate of these servers and password of their admin: the same for one that is started again, whose clients remain. */
let identity: Promise<Certificate & { readonly password: string }> | undefined;

export function ownIdentity(): Promise<Certificate & { readonly password: string }> {
  identity ??= makeCertificate().then((made) => ({ ...made, password: randomBytes(16).toString('hex') }));
  return identity;
}
