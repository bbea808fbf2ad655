import { TeamError } from '../core/errors.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
import type { Context } from './operation.ts';

/** The workspaces of this daemon. */
export function requireWorks({ works }: Context): TeamWorks {
  if (works) return works;
  throw new TeamError('unsupported', 'This process has no workspaces: use a daemon');
}
