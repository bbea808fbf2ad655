import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);

/** Packs what was built, without building it again; returns the path of the tarball. */
export function packInto(folder: string): string {
  const words = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
  return join(folder, execFileSync('npm', words, options).trim());
}
