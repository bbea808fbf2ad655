import { folderOfMember } from '../../core/folder.ts';
import type {
  HookType,
  TaskCompletedHookContext,
  TaskCreatedHookContext,
  TeammateIdleHookContext,
} from '../../core/hook.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import type { TeamWorks } from '../work/team-works.ts';

/** The context of any hook. */
export type HookContext = TeammateIdleHookContext | TaskCompletedHookContext | TaskCreatedHookContext;

/** The member whose work a hook judges: the holder of the task, whoever reports it. A new task is nobody's work yet. */
export function judgedMember(state: TeamState, context: HookContext): MemberRecord | undefined {
  if ('memberId' in context) return state.members.get(context.memberId);
  if (!('completedBy' in context)) return undefined;
  return state.members.get(state.tasks.get(context.taskId)?.assigneeId ?? context.completedBy);
}

/** What a payload is about. `own` is the team's folder. */
interface PayloadOptions {
  readonly type: HookType;
  readonly context: HookContext;
  readonly own: string | undefined;
  readonly works?: Pick<TeamWorks, 'folderOf'> | undefined;
}

/** The payload that Claude Code gives its own hooks, with the same names. */
export function payloadFor(state: TeamState, { type, context, own, works }: PayloadOptions): object {
  const memberId =
    'memberId' in context ? context.memberId : 'completedBy' in context ? context.completedBy : context.createdBy;
  const member = state.members.get(memberId);
  const task = 'taskId' in context ? state.tasks.get(context.taskId) : undefined;
  return {
    session_id: member?.sessionId ?? state.team?.leadSessionId,
    cwd: folderOfMember(member, own, works?.folderOf(state, memberId)),
    hook_event_name: type,
    ...(task && { task_id: task.id, task_subject: task.title, task_description: task.description }),
    ...(member && { teammate_name: member.name }),
    team_name: state.teamId,
    context,
  };
}
