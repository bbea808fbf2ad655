import { findUserHome } from '../../agents/user-home.ts';

/** A path with `~` for the home directory of the user, as shells write it. */
export function shortPath(path: string, environment: NodeJS.ProcessEnv): string {
  const home = findUserHome(environment);
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Whether a folder is another one or inside of it. */
export function isWithin(folder: string, other: string): boolean {
  return other !== '' && `${folder}/`.startsWith(`${other}/`);
}
