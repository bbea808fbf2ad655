import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { hasScope } from './caller.ts';
import type { Caller } from './caller.ts';
import type { Context } from './operation.ts';

/**
 * The events of a batch as a caller may see them: everybody sees what happens to the team, but mail only those between
 * whom it goes, the lead and people.
 */
export function visibleEvents(events: readonly TeamEvent[], caller: Caller): readonly TeamEvent[] {
  if (seesAll(caller) || !events.some((event) => event.type === 'message:sent')) return events;
  return events.flatMap((event) => {
    if (event.type !== 'message:sent' || event.by === caller.memberId) return event;
    const copies = event.copies.filter(({ toId }) => toId === caller.memberId);
    return copies.length > 0 ? { ...event, copies } : [];
  });
}

/** Nothing of a team is hidden from the caller. */
export function seesAll(caller: Caller): boolean {
  return hasScope(caller, 'lead');
}

/** What a member was told is its own to read; a person and the lead may look into that of others. */
export function requireSight({ caller, actor }: Pick<Context, 'caller' | 'actor'>, what: string, owner: string): void {
  if (owner === actor || seesAll(caller)) return;
  throw new TeamError(
    'not_allowed',
    `${actor} may not read the ${what} of ${owner}: only ${owner}, the lead and people may`,
  );
}
