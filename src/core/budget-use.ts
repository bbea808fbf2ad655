import type { Budget, BudgetMeasure } from './budget.ts';
import type { TeamState } from './state.ts';
import type { Usage } from './usage.ts';
import { teamUsage } from './view.ts';

/** How far one limit is used up. */
export interface BudgetUse {
  readonly of: 'team' | 'member';
  readonly what: BudgetMeasure;
  readonly used: number;
  readonly limit: number;
  /** 1 means all of it. */
  readonly share: number;
}

/** The share at which a warning appears. */
export const BUDGET_WARNING = 0.8;

/** How far a member's own budget and the team's are used up; the tightest first. Without a member, only the team's. */
export function budgetUses(state: TeamState, memberId: string | undefined, at: number): BudgetUse[] {
  const { team } = state;
  const member = memberId === undefined ? undefined : state.members.get(memberId);
  return [
    ...usesOf('team', team?.budget, () => teamUsage(state), at - (team?.createdAt.getTime() ?? at)),
    ...usesOf(
      'member',
      member?.budget,
      () => state.memberUsage.get(memberId ?? ''),
      at - (member?.joinedAt.getTime() ?? at),
    ),
  ].sort((a, b) => b.share - a.share);
}

function usesOf(
  of: BudgetUse['of'],
  budget: Budget | undefined,
  usage: () => Usage | undefined,
  elapsed: number,
): BudgetUse[] {
  if (!budget) return [];
  const { inputTokens = 0, outputTokens = 0, cacheWriteTokens = 0, costUsd = 0, turns = 0 } = usage() ?? {};
  const used = {
    tokens: inputTokens + outputTokens + cacheWriteTokens,
    costUsd,
    turns,
    minutes: Math.max(0, elapsed) / 60_000,
  };
  return (Object.entries(budget) as [BudgetMeasure, number | undefined][]).flatMap(([what, limit]) =>
    limit === undefined ? [] : [{ of, what, used: used[what], limit, share: used[what] / limit }],
  );
}
