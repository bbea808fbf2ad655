import { Actor, SYSTEM, USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { isSlug } from '../core/fields.ts';
import { parse } from '../core/parse.ts';
import { isExpected } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import { sameSince } from '../core/view.ts';

/** How much a credential allows; each scope includes the ones before it. */
const SCOPES = ['reader', 'member', 'lead', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The caller, from its credential; nothing in a request can change it. An admin is a person and may act for any member.
 * Every other credential was made for one member of one team.
 */
export interface Caller {
  readonly scope: Scope;
  readonly teamId?: string;
  readonly memberId?: string;
  /** When that member first joined. A later member of the same name cannot use this credential. */
  readonly since?: number;
}

/** A person with the daemon's own token. */
export const ADMIN: Caller = { scope: 'admin' };

/** Whether the caller's scope includes the other. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  return SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(scope);
}

/** A lead that was replaced stays a member but loses its powers. */
export function presentCaller(caller: Caller, { team }: Pick<TeamState, 'team'>): Caller {
  return caller.scope === 'lead' && team && team.leadId !== caller.memberId ? { ...caller, scope: 'member' } : caller;
}

/** Whether the credential's member is still in the team, or was until the team closed. */
export function isPresent({ team, members }: TeamState, { memberId, since }: Caller): boolean {
  const member = memberId === undefined ? undefined : members.get(memberId);
  if (!member || sameSince(member) !== since) return false;
  if (isExpected(member)) return true;
  return team?.closedAt !== undefined && member.stoppedAt?.getTime() === team.closedAt.getTime();
}

/** The only scope check: does the credential allow the operation, and is it for this team? */
export function authorize(caller: Caller, operation: { name: string; scope: Scope }, teamId: string | undefined): void {
  if (!hasScope(caller, operation.scope)) {
    throw new TeamError(
      'not_allowed',
      `${operation.name} needs the scope ${operation.scope}; this credential has ${caller.scope}`,
    );
  }
  if (caller.teamId !== undefined && teamId !== undefined && teamId !== caller.teamId) {
    throw new TeamError('not_allowed', `This credential is for team ${caller.teamId}, not ${quote(teamId)}`);
  }
}

/** Who acts: a member as itself, a person as itself or as the member it names. */
export function actorOf(caller: Caller, operation: { scope: Scope }, as: string | undefined): Actor {
  if (caller.scope === 'admin') return as === undefined ? USER : isSlug(as) ? as : parsePerson(as);
  if (caller.memberId === undefined || (caller.scope === 'reader' && operation.scope !== 'reader')) {
    throw new TeamError('not_allowed', 'This credential can only read');
  }
  if (as !== undefined && as !== caller.memberId) {
    throw new TeamError('not_allowed', `This credential acts for ${caller.memberId}, not for ${quote(as)}`);
  }
  return caller.memberId;
}

/** A member, or a person. Only Troupe's own code acts as Troupe, never a caller. */
function parsePerson(as: string): Actor {
  if (as === SYSTEM) {
    throw new TeamError(
      'not_allowed',
      `Nobody can act as ${SYSTEM}, which is Troupe itself: name a member, or leave it out`,
    );
  }
  return parse(Actor, as);
}
