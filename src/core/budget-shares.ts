import { amountsOf, clockOf, ranUntil, taskAmounts } from './budget-use.ts';
import type { OwnedUse } from './budget-use.ts';
import { showAmount } from './budget-words.ts';
import type { TeamState } from './state.ts';
import { quote } from './text.ts';
import { requireTask } from './view.ts';

/** How many members and tasks are named. */
const NAMED = 3;

/** On what most of a budget was spent, in words: the members and tasks with the largest amounts. Empty if unknown. */
export function describeShares(state: TeamState, use: OwnedUse, memberId: string, at: number): string {
  if (use.of === 'task') {
    // What each of its holders used is not kept apart.
    return `The task is ${quote(requireTask(state, use.taskId).title)}, held by ${memberId}`;
  }
  const members = use.of === 'team' ? largest(use, membersOf(state, at)) : [];
  const tasks = largest(use, tasksOf(state, use.of === 'team' ? undefined : memberId, at));
  const parts = [
    ...(members.length > 0 ? [`by ${members.join(', ')}`] : []),
    ...(tasks.length > 0 ? [`on ${tasks.join(', ')}`] : []),
  ];
  return parts.length > 0 ? `Most of it ${parts.join('; ')}` : '';
}

interface Spender {
  readonly name: string;
  readonly amounts: ReturnType<typeof amountsOf>;
}

function largest({ what }: OwnedUse, spenders: readonly Spender[]): string[] {
  return spenders
    .filter(({ amounts }) => amounts[what] > 0)
    .sort((a, b) => b.amounts[what] - a.amounts[what])
    .slice(0, NAMED)
    .map(({ name, amounts }) => `${name} (${showAmount(what, amounts[what])})`);
}

function membersOf(state: TeamState, at: number): Spender[] {
  return [...state.members.values()]
    .filter(({ agent, id }) => agent || state.memberUsage.has(id))
    .map((member) => {
      const ranMs = ranUntil(clockOf(member), at);
      return { name: member.id, amounts: amountsOf(state.memberUsage.get(member.id), ranMs) };
    });
}

/** The tasks of the team, or of one holder. A task may have had other holders before: that is not kept apart. */
function tasksOf(state: TeamState, holder: string | undefined, at: number): Spender[] {
  return [...state.tasks.values()]
    .filter(({ assigneeId }) => assigneeId !== undefined && (holder === undefined || assigneeId === holder))
    .map((task) => ({ name: `task #${task.id} ${quote(task.title)}`, amounts: taskAmounts(state, task, at) }));
}
