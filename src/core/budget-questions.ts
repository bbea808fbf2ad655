import { describeShares } from './budget-shares.ts';
import { budgetUses } from './budget-use.ts';
import type { BudgetUse } from './budget-use.ts';
import { describeUse, showAmount } from './budget-words.ts';
import { grantOf } from './budget.ts';
import type { RaiseRequestInput, TeamRequest } from './request.ts';
import type { TeamState } from './state.ts';

/**
 * The questions that a person should be asked now: of each budget that is used up, unless it was asked. They follow from
 * the state, not from an event, so that none is lost with a daemon or with the member that stopped.
 */
export function budgetQuestions(state: TeamState, at: number): RaiseRequestInput[] {
  if (state.team?.status !== 'active') return [];
  const live = [...state.members.values()].filter(({ status }) => status !== 'stopped');
  const questions: RaiseRequestInput[] = [];
  for (const { id: memberId, agent, joinedAt } of live) {
    for (const use of budgetUses(state, memberId, at)) {
      if (use.share < 1 || (use.of === 'team' && !agent)) continue;
      if (findAsked(state, use, memberId, joinedAt)) continue;
      const isAsked =
        use.of === 'team' && questions.some(({ detail }) => detail?.['of'] === 'team' && detail['what'] === use.what);
      if (!isAsked) questions.push(questionAbout(state, use, { memberId, at }));
    }
  }
  return questions;
}

/** A pending question about the same limit; or a no, which holds until a person brings the member up again. */
function findAsked(state: TeamState, use: BudgetUse, memberId: string, joinedAt: Date): TeamRequest | undefined {
  return [...state.requests.values()].findLast(({ kind, status, detail, memberId: whose, answeredAt }) => {
    const isSame = kind === 'budget' && detail?.['of'] === use.of && detail['what'] === use.what;
    if (!isSame || (use.of === 'member' && whose !== memberId)) return false;
    if (status === 'pending') return true;
    return status === 'rejected' && detail['limit'] === use.limit && answeredAt !== undefined && answeredAt >= joinedAt;
  });
}

function questionAbout(
  state: TeamState,
  use: BudgetUse,
  { memberId, at }: { memberId: string; at: number },
): RaiseRequestInput {
  const { of, what, used, limit } = use;
  const grants = grantOf((of === 'team' ? state.team : state.members.get(memberId)) ?? {}, what);
  const shares = describeShares(state, use, memberId, at);
  const content = [
    describeUse(use, memberId),
    ...(shares ? [shares] : []),
    `Yes allows ${showAmount(what, grants)} more`,
    'Until then no new turn begins, and turns that run are interrupted after a short time.',
  ].join('. ');
  return { kind: 'budget', memberId, content, detail: { of, what, used, limit, grants } };
}
