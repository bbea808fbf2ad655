import { readFileSync } from 'node:fs';
import { print } from '../show/write.ts';

/** Prints the version. */
export function printVersion(json: boolean): number {
  print(`${json ? JSON.stringify({ version: readVersion() }) : readVersion()}\n`);
  return 0;
}

/** The package's version. The relative path to package.json is the same from `src/cli` and `dist/cli`. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
