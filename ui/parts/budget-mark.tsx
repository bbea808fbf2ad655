import { budgetUses } from '../../src/client/replica.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';

/** From here on people are warned, as the daemon warns them. */
const NEARLY = 0.8;
/** Above this percentage, only the figures say by how much. */
const SAID = 1_000;

/** Warns that a budget is nearly or completely used up: that of a member or of a task, or without either the team's. */
export function BudgetMark({ memberId, taskId }: { memberId?: string; taskId?: string }) {
  const closedAt = useTeam(({ view }) => view.team?.closedAt?.getTime()) ?? Infinity;
  const now = Math.min(useTeamNow(), closedAt);
  const of = taskId !== undefined ? 'task' : memberId !== undefined ? 'member' : 'team';
  const share = useTeam(({ state }) =>
    Math.floor((budgetUses(state, { memberId, taskId }, now).find((use) => use.of === of)?.share ?? 0) * 100),
  );
  if (share < NEARLY * 100) return null;
  const isOver = share >= 100;
  return (
    <span className={`status pill budget-mark is-${isOver ? 'failed' : 'gate'}`}>
      {isOver ? 'Over budget' : 'Budget'}
      {share < SAID && ` ${share} %`}
    </span>
  );
}
