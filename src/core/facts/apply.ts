import type { EventOf, EventType } from '../event.ts';
import type { MemberRecord, TeamState } from '../state.ts';
import { putMember } from '../tables.ts';

/** How each event changes the state. */
export type Apply = { [T in EventType]: (state: TeamState, event: EventOf<T>) => void };

/** The part of it that is about one noun: `ApplyTo<'task'>` has `task:created`, `task:claimed` ... */
export type ApplyTo<Noun extends string> = Pick<Apply, Extract<EventType, `${Noun}:${string}`>>;

/** Replaces a member's record. */
export function changeMember(state: TeamState, id: string, change: (member: MemberRecord) => MemberRecord): void {
  const member = state.members.get(id);
  if (member) putMember(state, id, change(member));
}

/** Leaves out what an update does not mention, so that it does not erase it. */
export function defined<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Partial<T> = {};
  for (const key in changes) if (changes[key] !== undefined) kept[key] = changes[key];
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> };
}
