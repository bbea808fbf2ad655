import { TeamError } from '../core/errors.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
import type { Context } from './operation.ts';

/** The workspaces of this daemon. */
export function requireWorks({ works }: Context): TeamWorks {
  if (works) return works;
  throw new TeamError('unsupported', 'This process has no workspaces: use a daemon');
}

/** A member's workspace is its own business, and a person's. */
export function requireOwn({ caller, actor }: Context, memberId: string): void {
  if (caller.scope === 'admin' || caller.scope === 'lead' || actor === memberId) return;
  throw new TeamError('not_allowed', `${actor} may not use the workspace of ${memberId}: only ${memberId} may`);
}
