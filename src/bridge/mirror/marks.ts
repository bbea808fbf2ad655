import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';

/*
 * What records of ours say about the native side: `metadata.native` of a team, a member and a task.
 */

/** What a team says. */
const TeamMark = z.looseObject({
  /** The directory of the native team. */
  name: z.string(),
  /** Tells the native team from another one of its name. */
  session: z.string().optional(),
  /** Our members were told that it is gone. */
  gone: z.boolean().optional(),
  /** When we parted from it; kept when it is joined again. */
  leftAt: z.string().optional(),
  /** Our team was made only for members that sit in the native one. */
  seats: z.boolean().optional(),
});

export type TeamMark = z.output<typeof TeamMark>;

/** What a team of ours says of the native team that it is joined to, or was. */
export function markOf(state: TeamState, key: 'native' | 'formerNative' = 'native'): TeamMark | undefined {
  return TeamMark.safeParse(state.team?.metadata?.[key]).data;
}

/** The native team that a team of ours is joined to. */
export function nativeNameOf(state: TeamState): string | undefined {
  return markOf(state)?.name;
}

/** Whether a team was made only for members of ours that sit in a native one: it is over with it. */
export function isForSeats(state: TeamState): boolean {
  return markOf(state)?.seats === true;
}

/** What a member says. */
const MemberMark = z.looseObject({
  name: z.string().optional(),
  seat: z.string().optional(),
  signs: z.boolean().optional(),
});

function memberMark(member: MemberRecord): z.output<typeof MemberMark> {
  return MemberMark.safeParse(member.metadata?.['native']).data ?? {};
}

/** The native name of a member that came from there; undefined for members of ours. */
export function nativeMemberName(member: MemberRecord): string | undefined {
  return memberMark(member).name;
}

/** The native name under which a member of ours sits in a native team, in a pane that the native lead opened for it. */
export function seatOf(member: MemberRecord): string | undefined {
  return memberMark(member).seat;
}

/** Whether the native lead signs what it writes to a member that sits in its team. */
export function isSignedTo(member: MemberRecord): boolean {
  return memberMark(member).signs === true;
}

/** Whether a member is Claude Code in a terminal that we started. */
export function isHosted(member: MemberRecord | undefined): boolean {
  return member?.agent?.kind === 'claude-native';
}

/** Why a member that went with the native team, or out of it, has stopped. */
export const LEFT_NATIVE = 'left the native team';

/** Whether somebody left as it was told to, which is no news to the native lead and no trouble. */
export function isUsualEnd(reason: string | undefined): boolean {
  return reason === 'shutdown' || reason === LEFT_NATIVE;
}

/** Takes a member out of our team, for good. */
export function leaving(memberId: string, reason: string = LEFT_NATIVE): NewCommand {
  return { type: 'member.leave', by: SYSTEM, memberId, reason, returning: false };
}

/** What a task says. */
const TaskMark = z.looseObject({
  id: z.string().optional(),
  /** The task was deleted because its file was. */
  gone: z.boolean().optional(),
  owner: z.string().optional(),
  begun: z.boolean().optional(),
});

function taskMark(task: Pick<TaskRecord, 'metadata'> | undefined): z.output<typeof TaskMark> {
  return TaskMark.safeParse(task?.metadata?.['native']).data ?? {};
}

/** The id of the same task in the native list. */
export function nativeTaskId(task: TaskRecord | undefined): string | undefined {
  return taskMark(task).id;
}

/** Whether a task was deleted because its file was. */
export function wentWithFile(task: TaskRecord | undefined): boolean {
  return task?.status === 'deleted' && taskMark(task).gone === true;
}

/** An unknown owner that the file of a task names, and whether the file says that the task was begun. */
export interface Stranger {
  readonly owner: string;
  readonly begun: boolean;
}

/** The unknown owner that a task was set aside for. */
export function setAsideFor(task: TaskRecord | undefined): Stranger | undefined {
  const { owner, begun = false } = taskMark(task);
  return owner === undefined ? undefined : { owner, begun };
}

/** What a record says of its file, with something changed in it; undefined takes something out. */
export function fileMark(
  task: Pick<TaskRecord, 'metadata'>,
  change: Readonly<Record<string, string | boolean | undefined>>,
): { native: Record<string, string | boolean> } {
  const mark = { ...taskMark(task), ...change };
  const said = Object.entries(mark).filter(([, value]) => value !== undefined);
  return { native: Object.fromEntries(said) as Record<string, string | boolean> };
}
