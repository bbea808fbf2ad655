import type { Home } from '../../client/home.ts';

const { readFileSync } = process.getBuiltinModule('node:fs');

/** Where a credential is: its text, or the file that holds it. */
export type Credential = string | { readonly file: string };

/** A member's program has its own credential; a person has the daemon's, which lies in the home. */
export function findCredential(environment: NodeJS.ProcessEnv, home: Home): Credential {
  return environment['TROUPE_TOKEN'] || { file: environment['TROUPE_TOKEN_FILE'] || home.tokenFile };
}

/** The credential as it is now; a daemon that was started anew has a new one. */
export function readCredential(environment: NodeJS.ProcessEnv, home: Home): string {
  const credential = findCredential(environment, home);
  if (typeof credential === 'string') return credential;
  try {
    return readFileSync(credential.file, 'utf8').trim();
  } catch {
    // Nobody has such a token: the daemon, if there is one, says so.
    return '';
  }
}
