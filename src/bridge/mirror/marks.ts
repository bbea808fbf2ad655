import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import { isNativeAgent } from '../../core/agent-kinds.ts';
import { SHUTDOWN } from '../../core/member-marks.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';

/*
 * What our records say about the native side: `metadata.native` of a team, a member and a task.
 */

/** The mark of a team. */
const TeamMark = z.looseObject({
  /** The directory of the native team. */
  name: z.string(),
  /** Tells the native team from another of the same name. */
  session: z.string().optional(),
  /** Our members were told that the native team is gone. */
  gone: z.boolean().optional(),
  /** When we left it; kept when it is joined again. */
  leftAt: z.string().optional(),
  /** Our team was created only for members with a seat in the native one. */
  seats: z.boolean().optional(),
});

export type TeamMark = z.output<typeof TeamMark>;

/** The mark of the native team that our team is joined to, or was. */
export function markOf(state: TeamState, key: 'native' | 'formerNative' = 'native'): TeamMark | undefined {
  return TeamMark.safeParse(state.team?.metadata?.[key]).data;
}

/** The native team that our team is joined to. */
export function nativeNameOf(state: TeamState): string | undefined {
  return markOf(state)?.name;
}

/** Whether a team was created only for members with a seat in a native one; it ends with that one. */
export function isForSeats(state: TeamState): boolean {
  return markOf(state)?.seats === true;
}

/** The mark of a member. */
const MemberMark = z.looseObject({
  name: z.string().optional(),
  seat: z.string().optional(),
  signs: z.boolean().optional(),
});

function memberMark(member: MemberRecord): z.output<typeof MemberMark> {
  return MemberMark.safeParse(member.metadata?.['native']).data ?? {};
}

/** The native name of a native member; undefined for members of ours. */
export function nativeMemberName(member: MemberRecord): string | undefined {
  return memberMark(member).name;
}

/** The native name of a member of ours in a seat, in a pane that the native lead opened for it. */
export function seatOf(member: MemberRecord): string | undefined {
  return memberMark(member).seat;
}

/** Whether the native lead signs its messages to this member. */
export function isSignedTo(member: MemberRecord): boolean {
  return memberMark(member).signs === true;
}

/** Whether a member is Claude Code in a terminal that we started, as a teammate. A lead has its own native team. */
export function isHostedMate({ team }: TeamState, member: MemberRecord | undefined): boolean {
  return member?.agent !== undefined && isNativeAgent(member.agent) && member.id !== team?.leadId;
}

/** The reason of members that stopped because they left the native team, or it ended. */
const LEFT_NATIVE = 'left the native team';

/** Whether a member left on request, which is neither news to the native lead nor a problem. */
export function isUsualEnd(reason: string | undefined): boolean {
  return reason === SHUTDOWN || reason === LEFT_NATIVE;
}

/** Removes a member from our team for good. */
export function leaving(memberId: string, reason: string = LEFT_NATIVE): NewCommand {
  return { type: 'member.leave', by: SYSTEM, memberId, reason, returning: false };
}

/** The mark of a task. */
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

/** An unknown owner in a task's file, and whether the file says that the task was begun. */
export interface Stranger {
  readonly owner: string;
  readonly begun: boolean;
}

/** The unknown owner that a task is withheld for. */
export function setAsideFor(task: TaskRecord | undefined): Stranger | undefined {
  const { owner, begun = false } = taskMark(task);
  return owner === undefined ? undefined : { owner, begun };
}

/** A task's mark with changes; undefined removes a field. */
export function fileMark(
  task: Pick<TaskRecord, 'metadata'>,
  change: Readonly<Record<string, string | boolean | undefined>>,
): { native: Record<string, string | boolean> } {
  const mark = { ...taskMark(task), ...change };
  const said = Object.entries(mark).filter(([, value]) => value !== undefined);
  return { native: Object.fromEntries(said) as Record<string, string | boolean> };
}
