import { createHash } from 'node:crypto';
import { SYSTEM } from '../../core/actor.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import { isSlug, suggestSlug } from '../../core/text.ts';
import { NATIVE_LEAD } from '../layout.ts';
import { isHosted, nativeMemberName, seatOf, setAsideFor } from './marks.ts';
import type { Stranger } from './marks.ts';

/** Messages that came from an inbox have ids that say so. */
export const FROM_INBOX = 'n-';

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

/** The unknown owner that a task is set aside for, as long as it is: the owner is still unknown, and nobody was given it here meanwhile. */
export function strangerOf(state: TeamState, task: TaskRecord | undefined, naming: Naming): Stranger | undefined {
  const stranger = setAsideFor(task);
  const isFree = task?.status === 'pending' && task.assigneeId === undefined;
  return stranger && isFree && naming.idOf(state, stranger.owner) === undefined ? stranger : undefined;
}

/** The id under which a message of ours lies in a native inbox: the program expects a UUID. */
export function uuidOf(messageId: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(messageId)) return messageId;
  const hex = createHash('sha256').update(messageId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
