import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Makes a self-signed certificate and its key, in files, with `openssl`. */
export function makeCertificate(name: string): { key: string; cert: string } {
  const folder = temporaryFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  spawnSync('openssl', ['req', ...kind, '-subj', `/CN=${name}`, '-days', '1', '-keyout', key, '-out', cert]);
  return { key, cert };
}
