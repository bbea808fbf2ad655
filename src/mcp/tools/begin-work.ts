import { isApart } from '../../core/folder.ts';
import type { SharedTask } from '../../core/task.ts';
import type { Visit } from '../tool.ts';

/**
 * Brings the member's workspace to the branch for a task that it claimed with a tool: the task may depend on work that
 * landed since its turn began. What it changed stays in its folder. Its member's process does this for the tasks that it claims.
 */
export async function beginWork({ services, call, teamId, memberId }: Visit, { id, epoch }: SharedTask): Promise<void> {
  const hasOwn = await services.ledger.view(teamId, (state) => memberId !== undefined && isApart(state, memberId));
  if (hasOwn) await call('work.begin', { teamId, memberId, taskId: id, epoch, inTurn: true });
}
