import { findUserHome } from '../../agents/user-home.ts';
import { isInside } from '../../core/folder.ts';

/** A path with `~` for the home directory of the user, as shells write it. */
export function shortPath(path: string, environment: NodeJS.ProcessEnv): string {
  const home = findUserHome(environment);
  return isInside(path, home) ? `~${path.slice(home.length)}` : path;
}
