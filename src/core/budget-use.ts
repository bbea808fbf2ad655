import type { Budget, BudgetMeasure } from './budget.ts';
import type { MemberRecord, TaskRecord, TeamState } from './state.ts';
import type { Usage } from './usage.ts';
import { requireTask, teamUsage } from './view.ts';
import { waitsSince, workedOn } from './work-time.ts';

/** How far one limit is used up. */
export interface BudgetUse {
  readonly of: 'team' | 'member' | 'task';
  /** The task, if it is the budget of one. */
  readonly taskId?: string | undefined;
  readonly what: BudgetMeasure;
  readonly used: number;
  readonly limit: number;
  /** 1 means all of it. */
  readonly share: number;
}

/** The same, with the task of each that is the budget of one. */
export type OwnedUse = BudgetUse & Whose;
type Whose = { readonly of: 'team' | 'member' } | { readonly of: 'task'; readonly taskId: string };

/** The share at which a warning appears. */
export const BUDGET_WARNING = 0.8;

/** The share at which a running turn is interrupted at once. */
const BUDGET_OVERRUN = 1.1;

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

/** Who is at work, and on what. */
export interface AtWork {
  readonly memberId?: string | undefined;
  readonly taskId?: string | undefined;
}

/** How far the budgets of the team, of a member and of its task are used up; the tightest first. */
export function budgetUses(state: TeamState, { memberId, taskId }: AtWork, at: number): OwnedUse[] {
  const { team } = state;
  const member = memberId === undefined ? undefined : state.members.get(memberId);
  const task = taskId === undefined ? undefined : state.tasks.get(taskId);
  return [
    ...(team ? usesOf({ of: 'team' }, team.budget, () => amountsOf(teamUsage(state), ranUntil(team, at))) : []),
    ...(member ? memberUses(state, member, at) : []),
    ...(task ? taskUses(state, task, at) : []),
  ].sort((a, b) => b.share - a.share);
}

function memberUses(state: TeamState, member: MemberRecord, at: number): OwnedUse[] {
  return usesOf({ of: 'member' }, member.budget, () =>
    amountsOf(state.memberUsage.get(member.id), ranUntil(clockOf(member), at)),
  );
}

/** How far the budget of a task is used up. All its holders count. */
function taskUses(state: TeamState, task: TaskRecord, at: number): OwnedUse[] {
  return usesOf({ of: 'task', taskId: task.id }, task.budget, () => taskAmounts(state, task, at));
}

/** What was used for a task by all its holders. Its time stands still while a holder waits for an answer. */
export function taskAmounts(state: TeamState, task: TaskRecord, at: number): Record<BudgetMeasure, number> {
  const ms = (task.workedMs ?? 0) + workedOn(task, state.requests.values(), at);
  return amountsOf(state.taskUsage.get(task.id), ms);
}

/** How long something ran: before, and since when it runs now. Milliseconds. */
interface Clock {
  readonly ranMs?: number | undefined;
  readonly runsSince?: number | undefined;
}

/** A member's time runs while it is not stopped. */
export function clockOf({ ranMs, status, joinedAt }: MemberRecord): Clock {
  return status === 'stopped' ? { ranMs } : { ranMs, runsSince: joinedAt.getTime() };
}

/** The time of a task: what was worked on it until now, and that it goes on, unless its holder waits for an answer. */
function taskClock(state: TeamState, task: TaskRecord, at: number): Clock {
  const ranMs = taskAmounts(state, task, at).minutes * 60_000;
  return waitsSince(task, state.requests.values()) === undefined ? { ranMs, runsSince: at } : { ranMs };
}

/** The tasks in progress that have a budget, and who holds each. */
export function limitedTasks(state: TeamState): { task: TaskRecord; memberId: string }[] {
  const found: { task: TaskRecord; memberId: string }[] = [];
  for (const [memberId, ids] of state.index.assigned) {
    for (const id of ids) {
      const task = requireTask(state, id);
      if (task.status === 'in_progress' && task.budget) found.push({ task, memberId });
    }
  }
  return found;
}

/** How long it ran until a moment, in milliseconds. */
export function ranUntil({ ranMs = 0, runsSince }: Clock, at: number): number {
  return ranMs + (runsSince === undefined ? 0 : Math.max(0, at - runsSince));
}

/**
 * When the time budget of the team, a member or a task next reaches the warning or its limit. Undefined if that is over,
 * or no time runs.
 */
export function nextTimeLimit(state: TeamState, at: number): number | undefined {
  const { team, members } = state;
  const owners: { minutes: number | undefined; clock: Clock }[] = [
    ...(team ? [{ minutes: team.budget?.minutes, clock: team }] : []),
    ...[...members.values()].map((member) => ({ minutes: member.budget?.minutes, clock: clockOf(member) })),
    ...limitedTasks(state).map(({ task }) => ({ minutes: task.budget?.minutes, clock: taskClock(state, task, at) })),
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

function usesOf(whose: Whose, budget: Budget | undefined, amounts: () => Record<BudgetMeasure, number>): OwnedUse[] {
  if (!budget) return [];
  const used = amounts();
  return (Object.entries(budget) as [BudgetMeasure, number | undefined][]).flatMap(([what, limit]) =>
    limit === undefined ? [] : [{ ...whose, what, used: used[what], limit, share: used[what] / limit }],
  );
}
