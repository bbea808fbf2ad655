import { createHash } from 'node:crypto';
import { SYSTEM } from '../../core/actor.ts';
import { noteOn } from '../../core/address.ts';
import { isSlug, suggestSlug } from '../../core/fields.ts';
import type { TaskRecord, TeamState } from '../../core/state.ts';
import { NATIVE_LEAD } from '../layout.ts';
import { isHostedMate, nativeMemberName, seatOf, setAsideFor } from './marks.ts';
import type { Stranger } from './marks.ts';

/** The prefix of ids of messages that came from a native inbox. */
export const FROM_INBOX = 'n-';

/** The member with this native name. */
export function memberIdOf(state: TeamState, name: string): string | undefined {
  for (const member of state.members.values()) {
    if ((nativeMemberName(member) ?? seatOf(member) ?? member.id) === name) return member.id;
  }
  return undefined;
}

/** A member's native name. */
export function nameFor(state: TeamState, memberId: string): string {
  const member = state.members.get(memberId);
  return (member && (nativeMemberName(member) ?? seatOf(member))) ?? nativeName(memberId);
}

/** The native name of a member that is not native: its own, without the `@` of a person or Troupe. */
export function nativeName(memberId: string): string {
  return memberId.replace(/^@/, '');
}

/** The text of a message as a native inbox has it. Claude Code shows no more about a sender than its name. */
export function withNote(fromId: string, content: string): string {
  const note = noteOn(fromId);
  return note === undefined ? content : `[${note}]\n\n${content}`;
}

/** An id for a native member: its own name if that is a valid one. */
export function newMemberId(state: TeamState, name: string): string {
  const wanted = isSlug(name) ? name : suggestSlug(name);
  let id = wanted;
  for (let i = 2; state.members.has(id); i++) id = `${wanted.slice(0, 60)}-${i}`;
  return id;
}

/** How the two sides of a mirror name each other's members. */
export interface Naming {
  idOf(state: TeamState, name: string): string | undefined;
  nameOf(state: TeamState, memberId: string): string;
  /** Whether a member acts through native files, so that what they say in its name counts as its own. */
  isNative(state: TeamState, memberId: string | undefined): boolean;
  /** The actor for changes whose author the files don't name. */
  author(state: TeamState): string;
  /** Whether we lead the native team ourselves. */
  readonly leads: boolean;
}

/** A native team that we joined: its lead is native and has a lead's rights. */
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

/** A native team that we lead: native are the members that we started as such, with a member's rights only. */
export const HOSTED_NAMES: Naming = {
  idOf(state, name) {
    const leadId = state.team?.leadId;
    if (name === NATIVE_LEAD) return leadId;
    return name !== leadId && state.members.has(name) ? name : undefined;
  },
  nameOf: (state, memberId) => (memberId === state.team?.leadId ? NATIVE_LEAD : nativeName(memberId)),
  isNative: (state, memberId) => isHostedMate(state, state.members.get(memberId ?? '')),
  author(state) {
    const member = [...state.members.values()].find((one) => isHostedMate(state, one) && one.status !== 'stopped');
    return member?.id ?? state.team?.leadId ?? SYSTEM;
  },
  leads: true,
};

/** The unknown owner that a task is withheld for, while that owner is unknown and nobody here has the task. */
export function strangerOf(state: TeamState, task: TaskRecord | undefined, naming: Naming): Stranger | undefined {
  const stranger = setAsideFor(task);
  const isFree = task?.status === 'pending' && task.assigneeId === undefined;
  return stranger && isFree && naming.idOf(state, stranger.owner) === undefined ? stranger : undefined;
}

/** The id of our message in a native inbox: Claude Code expects a UUID. */
export function uuidOf(messageId: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(messageId)) return messageId;
  const hex = createHash('sha256').update(messageId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
