import { readFileSync } from 'node:fs';

/** The package's version; `src/runtime` and `dist/runtime` are equally far from package.json. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
