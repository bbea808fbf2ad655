import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { hasScope } from './caller.ts';
import type { Caller } from './caller.ts';
import type { Context } from './operation.ts';

/**
 * The events of a batch that a caller may see: everything that happens to the team. Messages only if the caller is the
 * sender, a recipient, the lead or a person.
 */
export function visibleEvents(events: readonly TeamEvent[], caller: Caller): readonly TeamEvent[] {
  if (seesAll(caller) || !events.some((event) => event.type === 'message:sent')) return events;
  return events.flatMap((event) => {
    if (event.type !== 'message:sent' || event.by === caller.memberId) return event;
    const copies = event.copies.filter(({ toId }) => toId === caller.memberId);
    return copies.length > 0 ? { ...event, copies } : [];
  });
}

/** Whether a caller may see a message: the sender, the recipient, the lead and people may. */
export function maySeeMessage(caller: Caller, actor: string, message: { fromId: string; toId: string }): boolean {
  return message.fromId === actor || message.toId === actor || seesAll(caller);
}

/** Whether the caller may see everything in a team. */
export function seesAll(caller: Caller): boolean {
  return hasScope(caller, 'lead');
}

/** A member may read its own mail and transcripts; a person and the lead may read those of others. */
export function requireSight({ caller, actor }: Pick<Context, 'caller' | 'actor'>, what: string, owner: string): void {
  if (owner === actor || seesAll(caller)) return;
  throw new TeamError(
    'not_allowed',
    `${actor} may not read the ${what} of ${owner}: only ${owner}, the lead and people may`,
  );
}
