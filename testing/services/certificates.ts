/** Makes certificates for tests with the `openssl` command, so that no keys are committed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** PEM texts. */
interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Certificates of one authority, as PEM. */
export interface Certificates {
  /** The authority that signed both. */
  readonly ca: string;
  /** For 127.0.0.1 and localhost. */
  readonly server: Identity;
  readonly client: Identity;
}

/** A server's certificate and its requirements. */
export interface ServerTls {
  readonly certificates: Certificates;
  /** Clients must show a certificate of the same authority. Default: no. */
  readonly demandsClientCertificate?: boolean;
}

const validDays = '2';

/** Makes certificates with OpenSSL. They expire after two days. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-certificates-'));
  const issue = async (name: string, ...args: string[]): Promise<Identity> => {
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
    const out = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', validDays, '-subj', `/CN=${name}`];
    await run('openssl', ['req', '-x509', ...newKey, ...out, ...args], { cwd: folder });
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    return { cert: await read(`${name}.pem`), key: await read(`${name}.key`) };
  };
  const leaf = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-addext', 'basicConstraints=critical,CA:FALSE'];
  try {
    const { cert: ca } = await issue('authority');
    const server = await issue('server', ...leaf, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost');
    return { ca, server, client: await issue('client', ...leaf) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
