import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files for a server on 127.0.0.1. */
export interface Certificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes an authority and its certificate, which is valid for `days` from now. A negative number means expired. */
export function makeCertificate(folder: string, { days }: { days: number }): Certificate {
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '9',
    '-subj',
    '/CN=Test authority',
  );
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1');
  const day = (offset: number) =>
    `${new Date(Date.now() + offset * 86_400_000).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  writeFileSync(path('names'), 'subjectAltName=IP:127.0.0.1\n');
  // Only the `ca` command can backdate a certificate.
  writeFileSync(path('index'), '');
  writeFileSync(path('serial'), '01\n');
  writeFileSync(
    path('ca.conf'),
    [
      '[ca]',
      'default_ca = test',
      '[test]',
      'database = index',
      'serial = serial',
      'new_certs_dir = .',
      'default_md = sha256',
      'policy = any',
      'unique_subject = no',
      '[any]',
      'commonName = supplied',
    ].join('\n'),
  );
  const files = '-config ca.conf -cert ca.pem -keyfile ca.key -in server.csr -out server.pem -extfile names'.split(' ');
  openssl('ca', '-batch', '-notext', '-startdate', day(-8), '-enddate', day(days), ...files);
  return { ca: path('ca.pem'), cert: path('server.pem'), key: path('server.key') };
}
