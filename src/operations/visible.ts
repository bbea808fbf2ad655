import type { TeamEvent } from '../core/event.ts';
import { hasScope } from './caller.ts';
import type { Caller } from './caller.ts';

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
