import { isApart } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { requireMember, requireTeam } from '../../core/view.ts';

/** A member with a workspace of its own. */
export interface Worker {
  readonly teamId: string;
  readonly memberId: string;
}

/** Whether the team has workspaces, and somebody may still work in them. */
export function isOpen({ team }: TeamState): boolean {
  return team?.work !== undefined && team.status !== 'cleaned-up';
}

/** The members with a workspace of their own that hold a task. */
export function holders(state: TeamState): string[] {
  const held = [...state.tasks.values()]
    .filter(({ status }) => status === 'in_progress')
    .map(({ assigneeId = '' }) => assigneeId);
  return [...new Set(held)].filter((id) => isApart(state, id));
}

/** Whether a member works in a workspace of its own. */
export function worksApart(state: TeamState, memberId: string): boolean {
  requireTeam(state);
  return requireMember(state, memberId).workspace === 'own';
}

/** A claim of a member: whether its work is still to begin in a workspace, and whether it holds no other task. */
export function claimOf(
  state: TeamState,
  memberId: string,
  { taskId, epoch }: { readonly taskId: string; readonly epoch: number },
): { isDue: boolean; isOnly: boolean } {
  const work = state.tasks.get(taskId)?.work;
  const held = [...state.tasks.values()].filter(
    ({ status, assigneeId }) => status === 'in_progress' && assigneeId === memberId,
  );
  return {
    isDue: requireMember(state, memberId).workspace === 'own' && !(work?.state === 'begun' && work.epoch === epoch),
    isOnly: held.every(({ id }) => id === taskId),
  };
}
