import { budgetUses } from '../../src/client/replica.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';

/** From here on people are warned, as the daemon warns them. */
const NEARLY = 0.8;
/** Above this percentage, only the figures say by how much. */
const SAID = 1_000;

/** Warns that a budget is nearly or completely used up: a member's own, or without a member the team's. */
export function BudgetMark({ memberId }: { memberId?: string }) {
  const closedAt = useTeam(({ view }) => view.team?.closedAt?.getTime()) ?? Infinity;
  const now = Math.min(useTeamNow(), closedAt);
  const of = memberId === undefined ? 'team' : 'member';
  const share = useTeam(({ state }) =>
    Math.floor((budgetUses(state, memberId, now).find((use) => use.of === of)?.share ?? 0) * 100),
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
