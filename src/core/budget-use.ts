import type { Budget, BudgetMeasure } from './budget.ts';
import type { MemberRecord, TeamState } from './state.ts';
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

/** The share at which a running turn is interrupted at once. */
export const BUDGET_OVERRUN = 1.1;

/**
 * How long a running turn may still go on, in milliseconds: undefined without end, since no limit is reached; 0 not at
 * all, since a limit is exceeded by far.
 */
export function graceLeft(uses: readonly BudgetUse[], graceMs: number): number | undefined {
  const spent = uses.filter(({ share }) => share >= 1);
  if (spent.length === 0) return undefined;
  return Math.min(
    ...spent.map(({ what, used, limit, share }) => {
      if (share >= BUDGET_OVERRUN) return 0;
      return what === 'minutes' ? Math.min(graceMs, (limit * BUDGET_OVERRUN - used) * 60_000) : graceMs;
    }),
  );
}

/** How far a member's own budget and the team's are used up; the tightest first. Without a member, only the team's. */
export function budgetUses(state: TeamState, memberId: string | undefined, at: number): BudgetUse[] {
  const { team } = state;
  const member = memberId === undefined ? undefined : state.members.get(memberId);
  return [
    ...usesOf('team', team?.budget, () => teamUsage(state), ranUntil(team ?? {}, at)),
    ...usesOf('member', member?.budget, () => state.memberUsage.get(memberId ?? ''), ranUntil(clockOf(member), at)),
  ].sort((a, b) => b.share - a.share);
}

/** How long something ran: before, and since when it runs now. Milliseconds. */
interface Clock {
  readonly ranMs?: number | undefined;
  readonly runsSince?: number | undefined;
}

/** A member's time runs while it is not stopped. */
export function clockOf(member: MemberRecord | undefined): Clock {
  if (!member) return {};
  const { ranMs, status, joinedAt } = member;
  return status === 'stopped' ? { ranMs } : { ranMs, runsSince: joinedAt.getTime() };
}

/** How long it ran until a moment, in milliseconds. */
export function ranUntil({ ranMs = 0, runsSince }: Clock, at: number): number {
  return ranMs + (runsSince === undefined ? 0 : Math.max(0, at - runsSince));
}

/**
 * When the time budget of the team, or of a member, next reaches the warning or its limit. Undefined if that is over, or
 * no time runs.
 */
export function nextTimeLimit(state: TeamState, at: number): number | undefined {
  const { team, members } = state;
  const owners = [
    { minutes: team?.budget?.minutes, clock: team ?? {} },
    ...[...members.values()].map((member) => ({ minutes: member.budget?.minutes, clock: clockOf(member) })),
  ];
  const moments = owners.flatMap(({ minutes, clock }) => {
    const { ranMs = 0, runsSince } = clock;
    if (minutes === undefined || runsSince === undefined) return [];
    // Compared as in `usesOf`. At the computed moment the share may be 1 less a rounding error, and would never be looked at again.
    const share = ranUntil(clock, at) / 60_000 / minutes;
    return [BUDGET_WARNING, 1]
      .filter((limit) => share < limit)
      .map((limit) => Math.max(at + 1, Math.ceil(runsSince + minutes * 60_000 * limit - ranMs)));
  });
  return moments.length > 0 ? Math.min(...moments) : undefined;
}

/** Usage and time, as budgets measure them. */
export function amountsOf(usage: Usage | undefined, elapsedMs: number): Record<BudgetMeasure, number> {
  const { inputTokens = 0, outputTokens = 0, cacheWriteTokens = 0, costUsd = 0, turns = 0 } = usage ?? {};
  return { tokens: inputTokens + outputTokens + cacheWriteTokens, costUsd, turns, minutes: elapsedMs / 60_000 };
}

function usesOf(
  of: BudgetUse['of'],
  budget: Budget | undefined,
  usage: () => Usage | undefined,
  elapsed: number,
): BudgetUse[] {
  if (!budget) return [];
  const used = amountsOf(usage(), elapsed);
  return (Object.entries(budget) as [BudgetMeasure, number | undefined][]).flatMap(([what, limit]) =>
    limit === undefined ? [] : [{ of, what, used: used[what], limit, share: used[what] / limit }],
  );
}
