import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../../core/state.ts';
import { isSlug, suggestSlug } from '../../core/text.ts';
import { NATIVE_LEAD } from '../layout.ts';

/** Messages that came from an inbox have ids that say so. */
export const FROM_INBOX = 'n-';

/** Where a record of ours says whose counterpart it is. */
const NativeMark = z.looseObject({
  name: z.string().optional(),
  id: z.string().optional(),
  gone: z.boolean().optional(),
  owner: z.string().optional(),
  begun: z.boolean().optional(),
  seat: z.string().optional(),
  signs: z.boolean().optional(),
  seats: z.boolean().optional(),
});

/** Why a member that went with the native team, or out of it, has stopped. */
export const LEFT_NATIVE = 'left the native team';

/** Whether somebody left as it was told to, which is no news to the native lead and no trouble. */
export function isUsualEnd(reason: string | undefined): boolean {
  return reason === 'shutdown' || reason === LEFT_NATIVE;
}

/** Whether a team was made only for members of ours that sit in a native one: it is over with it. */
export function isForSeats(state: TeamState): boolean {
  return NativeMark.safeParse(state.team?.metadata?.['native']).data?.seats === true;
}

/** What a team's metadata says of the native team that it mirrors. */
export function nativeNameOf(state: TeamState): string | undefined {
  return NativeMark.safeParse(state.team?.metadata?.['native']).data?.name;
}

/** The native name of a member that came from there; undefined for members of ours. */
export function nativeMemberName(member: MemberRecord): string | undefined {
  return NativeMark.safeParse(member.metadata?.['native']).data?.name;
}

/** The native name under which a member of ours sits in a native team, in a pane that the native lead opened for it. */
export function seatOf(member: MemberRecord): string | undefined {
  return NativeMark.safeParse(member.metadata?.['native']).data?.seat;
}

/** Whether the native lead signs what it writes to a member that sits in its team. */
export function isSignedTo(member: MemberRecord): boolean {
  return NativeMark.safeParse(member.metadata?.['native']).data?.signs === true;
}

/** The id of the same task in the native list. */
export function nativeTaskId(task: TaskRecord | undefined): string | undefined {
  return NativeMark.safeParse(task?.metadata?.['native']).data?.id;
}

/** Whom the file of a task names as its owner, where that was nobody we knew, and whether it says that it was begun. */
export interface Stranger {
  readonly owner: string;
  readonly begun: boolean;
}

/** For whom a task was set aside. */
export function setAsideFor(task: TaskRecord | undefined): Stranger | undefined {
  const { owner, begun = false } = NativeMark.safeParse(task?.metadata?.['native']).data ?? {};
  return owner === undefined ? undefined : { owner, begun };
}

/** The same while it still is: whom it is for is still unknown, and nobody was given it here meanwhile. */
export function strangerOf(state: TeamState, task: TaskRecord | undefined, naming: Naming): Stranger | undefined {
  const stranger = setAsideFor(task);
  const isFree = task?.status === 'pending' && task.assigneeId === undefined;
  return stranger && isFree && naming.idOf(state, stranger.owner) === undefined ? stranger : undefined;
}

/** What a record says of its file, with something changed in it; undefined takes something out. */
export function fileMark(
  task: Pick<TaskRecord, 'metadata'>,
  change: Readonly<Record<string, string | boolean | undefined>>,
): { native: Record<string, string | boolean> } {
  const mark = { ...NativeMark.safeParse(task.metadata?.['native']).data, ...change };
  const said = Object.entries(mark).filter(([, value]) => value !== undefined);
  return { native: Object.fromEntries(said) as Record<string, string | boolean> };
}

/** Whether a task was deleted because its file was. */
export function wentWithFile(task: TaskRecord | undefined): boolean {
  return task?.status === 'deleted' && NativeMark.safeParse(task.metadata?.['native']).data?.gone === true;
}

/** The member that goes by a native name. */
export function memberIdOf(state: TeamState, name: string): string | undefined {
  for (const member of state.members.values()) {
    if ((nativeMemberName(member) ?? seatOf(member) ?? member.id) === name) return member.id;
  }
  return undefined;
}

/** The name under which natives know a member. */
export function nameFor(state: TeamState, memberId: string): string {
  const member = state.members.get(memberId);
  return (member && (nativeMemberName(member) ?? seatOf(member))) ?? nativeName(memberId);
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

/** How the members of the two sides of a mirror are known to each other. */
export interface Naming {
  idOf(state: TeamState, name: string): string | undefined;
  nameOf(state: TeamState, memberId: string): string;
  /** Whether a member acts through native files: what these say in its name, it said. */
  isNative(state: TeamState, memberId: string | undefined): boolean;
  /** In whose name something is done of which the files do not say who did it. */
  author(state: TeamState): string;
  /** We lead the native team ourselves. */
  readonly leads: boolean;
}

/** A native team that we joined: its lead is native, and may do what a lead may. */
export const JOINED_NAMES: Naming = {
  idOf: memberIdOf,
  nameOf: nameFor,
  isNative(state, memberId) {
    const member = memberId === undefined ? undefined : state.members.get(memberId);
    return member !== undefined && (nativeMemberName(member) !== undefined || memberId === state.team?.leadId);
  },
  author: ({ team }) => team?.leadId ?? SYSTEM,
  leads: false,
};

/** A native team that we lead: natives are the members that we started as such, and none of them may do more than a member. */
export const HOSTED_NAMES: Naming = {
  idOf(state, name) {
    const leadId = state.team?.leadId;
    if (name === NATIVE_LEAD) return leadId;
    return name !== leadId && state.members.has(name) ? name : undefined;
  },
  nameOf: (state, memberId) => (memberId === state.team?.leadId ? NATIVE_LEAD : nativeName(memberId)),
  isNative: (state, memberId) => isHosted(state.members.get(memberId ?? '')),
  author(state) {
    const member = [...state.members.values()].find((one) => isHosted(one) && one.status !== 'stopped');
    return member?.id ?? state.team?.leadId ?? SYSTEM;
  },
  leads: true,
};

/** Whether a member is Claude Code in a terminal that we started. */
export function isHosted(member: MemberRecord | undefined): boolean {
  return member?.agent?.kind === 'claude-native';
}

/** The id under which a message of ours lies in a native inbox: the program expects a UUID. */
export function uuidOf(messageId: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(messageId)) return messageId;
  const hex = createHash('sha256').update(messageId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
