import type { Home } from '../../client/home.ts';

const { readFileSync, statSync } = process.getBuiltinModule('node:fs');

/** Where a credential is: its text, or the file that holds it. */
export type Credential = string | { readonly file: string };

/** A member's program has its own credential. A person uses the daemon's, which is in the home. */
export function findCredential(environment: NodeJS.ProcessEnv, home: Home): Credential {
  return environment['TROUPE_TOKEN'] || { file: environment['TROUPE_TOKEN_FILE'] || home.tokenFile };
}

/** Reads the credential; a restarted daemon has a new one. */
export function readCredential(environment: NodeJS.ProcessEnv, home: Home): string {
  const credential = findCredential(environment, home);
  if (typeof credential === 'string') return credential;
  try {
    return readFileSync(credential.file, 'utf8').trim();
  } catch {
    // No daemon accepts an empty token; if one runs, it says so.
    return '';
  }
}

/** Whether other users may read a file. The daemon accepts no secret that they may have seen. */
export function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}
