import { isApart } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import { requireMember, requireTeam } from '../../core/view.ts';
import type { SavedWork } from '../../ledger/hand-in.ts';

/** A member with a workspace of its own. */
export interface Worker {
  readonly teamId: string;
  readonly memberId: string;
}

/** A member whose work is saved: what its folder has, or what it did for a task. */
export interface SavedFor extends Worker {
  readonly taskId?: string | undefined;
}

/** The work of a task whose holder went on with another one, as its last save has it. */
export function asideOf({ tasks }: TeamState, taskId: string | undefined): SavedWork | undefined {
  const { epoch, work } = tasks.get(taskId ?? '') ?? {};
  if (!work || work.epoch !== epoch || work.aside === undefined) return undefined;
  const { state, aside: commit, base, onto = base } = work;
  const isHandedIn = work.commit === commit;
  return { base: state === 'conflicted' ? onto : base, commit, ...(!isHandedIn && { problem: NOT_HANDED_IN }) };
}

const NOT_HANDED_IN =
  'This work was sent back before it could be handed in, and its holder went on with another task. ' +
  'Send it back, or accept it as it is.';

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
