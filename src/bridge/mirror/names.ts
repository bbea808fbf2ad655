import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { MemberRecord, TaskRecord, TeamState } from '../../core/state.ts';
import { isSlug, suggestSlug } from '../../core/text.ts';

/** Where a record of ours says whose counterpart it is. */
const NativeMark = z.looseObject({ name: z.string().optional(), id: z.string().optional() });

/** What a team's metadata says of the native team that it mirrors. */
export function nativeNameOf(state: TeamState): string | undefined {
  return NativeMark.safeParse(state.team?.metadata?.['native']).data?.name;
}

/** The native name of a member that came from there; undefined for members of ours. */
export function nativeMemberName(member: MemberRecord): string | undefined {
  return NativeMark.safeParse(member.metadata?.['native']).data?.name;
}

/** The id of the same task in the native list. */
export function nativeTaskId(task: TaskRecord): string | undefined {
  return NativeMark.safeParse(task.metadata?.['native']).data?.id;
}

/** The member that goes by a native name. */
export function memberIdOf(state: TeamState, name: string): string | undefined {
  for (const member of state.members.values()) {
    if ((nativeMemberName(member) ?? member.id) === name) return member.id;
  }
  return undefined;
}

/** The name under which natives know a member. */
export function nameFor(state: TeamState, memberId: string): string {
  const member = state.members.get(memberId);
  return (member && nativeMemberName(member)) ?? nativeName(memberId);
}

/** The same for one that did not come from there: its own, which a person's and Troupe's are made to be. */
export function nativeName(memberId: string): string {
  return memberId.replace('@', '');
}

/** A name of ours for a native member: its own where that is one. */
export function newMemberId(state: TeamState, name: string): string {
  const wanted = isSlug(name) ? name : suggestSlug(name);
  let id = wanted;
  for (let i = 2; state.members.has(id); i++) id = `${wanted.slice(0, 60)}-${i}`;
  return id;
}

/** The id under which a message of ours lies in a native inbox: the program expects a UUID. */
export function uuidOf(messageId: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(messageId)) return messageId;
  const hex = createHash('sha256').update(messageId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
