import { USER } from '../../core/actor.ts';
import { showBudget } from '../../core/budget-words.ts';
import { withGrants } from '../../core/budget.ts';
import type { Budget, BudgetMeasure, Granted, Limits } from '../../core/budget.ts';
import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { budgetOf } from './budget-entries.ts';
import type { TeamFile } from './schema.ts';
import { standingTasks } from './tasks.ts';

/** The budget of a file for a member that joins again: what people granted it is added. */
export function budgetFor(state: TeamState, { name, budget }: TeamFile['members'][number]): Budget | undefined {
  return budget && withGrants(budgetOf(budget), state.members.get(name)?.granted);
}

/** Gives a standing team, its lead, the members that run and the open tasks the budgets of the file. */
export function budgetCommands(state: TeamState, file: TeamFile): NewCommand[] {
  return changesFor(state, file).flatMap(({ memberId, taskId, budget, granted }): NewCommand[] => {
    if (!budget) return [];
    if (taskId !== undefined) return [{ type: 'task.update', by: USER, taskId, budget, granted }];
    if (memberId === undefined) return [{ type: 'team.update', by: USER, budget, granted }];
    // A stopped one gets its budget when it joins again.
    if (state.members.get(memberId)?.status === 'stopped') return [];
    return [{ type: 'member.change', by: USER, memberId, budget, granted }];
  });
}

/** What the file changes about the budgets of a standing team, a sentence each. */
export function describeBudgets(state: TeamState, file: TeamFile): string[] {
  return changesFor(state, file).map(({ memberId, taskId, before, budget }) => {
    const whose = taskId === undefined ? (memberId ?? 'the team') : `task #${taskId}`;
    return budget
      ? `The budget of ${whose} is now ${show(budget)}. It was ${show(before)}.`
      : `The file has no budget, but the team keeps its own: ${show(before)}. To remove it: troupe team update --team ${file.team} --budget '{}'.`;
  });
}

interface Change {
  readonly memberId?: string;
  readonly taskId?: string;
  readonly before: Budget | undefined;
  /** Undefined: it stays as it is. */
  readonly budget?: Budget;
  readonly granted?: Granted;
}

function changesFor(state: TeamState, file: TeamFile): Change[] {
  const { team } = state;
  if (!team || team.status === 'cleaned-up') return [];
  const lead = typeof file.lead === 'object' ? [{ ...file.lead, name: team.leadId }] : [];
  const members = [...lead, ...file.members].flatMap(({ name: memberId, budget }) => {
    const member = state.members.get(memberId);
    return member && budget ? changeOf(member, budgetOf(budget), { memberId }) : [];
  });
  const tasks = standingTasks(state, file).flatMap(({ task, entry: { budget } }) => {
    const isOpen = task.status === 'pending' || task.status === 'in_progress';
    return isOpen && budget ? changeOf(task, budgetOf(budget), { taskId: task.id }) : [];
  });
  // Somebody may have set the team's with a command.
  if (!file.budget) {
    const isKept = team.budget && show(team.budget) !== NONE;
    return [...(isKept ? [{ before: team.budget }] : []), ...members, ...tasks];
  }
  return [...changeOf(team, budgetOf(file.budget), {}), ...members, ...tasks];
}

function changeOf(
  { budget: before, granted }: Limits,
  wanted: Budget,
  owner: Pick<Change, 'memberId' | 'taskId'>,
): Change[] {
  const budget = withGrants(wanted, granted);
  const measures = new Set([...Object.keys(before ?? {}), ...Object.keys(budget)]) as Set<BudgetMeasure>;
  if ([...measures].every((what) => before?.[what] === budget[what])) return [];
  const kept = Object.entries(granted ?? {}).filter(([what]) => budget[what as BudgetMeasure] !== undefined);
  return [{ before, budget, granted: Object.fromEntries(kept), ...owner }];
}

const NONE = 'without limits';

function show(budget: Budget = {}): string {
  return showBudget(budget) || NONE;
}
