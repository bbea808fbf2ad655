import type {
  HookType,
  TaskCompletedHookContext,
  TaskCreatedHookContext,
  TeammateIdleHookContext,
} from '../../core/hook.ts';
import type { TeamState } from '../../core/state.ts';

/** What any hook is told. */
export type HookContext = TeammateIdleHookContext | TaskCompletedHookContext | TaskCreatedHookContext;

/** What Claude Code tells its own hooks, under the same names. */
export function payloadFor(state: TeamState, type: HookType, context: HookContext): object {
  const memberId =
    'memberId' in context ? context.memberId : 'completedBy' in context ? context.completedBy : context.createdBy;
  const member = state.members.get(memberId);
  const task = 'taskId' in context ? state.tasks.get(context.taskId) : undefined;
  return {
    session_id: member?.sessionId ?? state.team?.leadSessionId,
    cwd: member?.cwd,
    hook_event_name: type,
    ...(task && { task_id: task.id, task_subject: task.title, task_description: task.description }),
    ...(member && { teammate_name: member.name }),
    team_name: state.teamId,
    context,
  };
}
