import type { BudgetUse } from './budget-use.ts';
import type { Budget, BudgetMeasure } from './budget.ts';

/** An amount of a budget in words: "3 turns", "$1.50", "45 seconds". */
export function showAmount(what: BudgetMeasure, amount: number): string {
  if (what === 'costUsd') return `$${amount < 0.1 ? Number(amount.toPrecision(1)) : amount.toFixed(2)}`;
  if (what === 'minutes') return showMinutes(amount);
  return count(Math.round(amount), what);
}

/** All limits of a budget in words; empty if it has none. */
export function showBudget(budget: Budget): string {
  return (Object.entries(budget) as [BudgetMeasure, number | undefined][])
    .flatMap(([what, limit]) => (limit === undefined ? [] : showAmount(what, limit)))
    .join(', ');
}

/** How much a yes to a budget request gave, or would give, in words; undefined if the request does not say. */
export function showGrant(
  detail: Readonly<Record<string, unknown>> | undefined,
  grants: unknown = detail?.['grants'],
): string | undefined {
  const { what } = detail ?? {};
  const measure = (['tokens', 'costUsd', 'turns', 'minutes'] as const).find((one) => one === what);
  return measure === undefined || typeof grants !== 'number' ? undefined : `${showAmount(measure, grants)} more`;
}

/** Whose budget, of what, and how much is used. */
export function describeUse({ of, taskId, what, used, limit }: BudgetUse, memberId: string): string {
  const whose = { team: 'the team', member: memberId, task: `task #${taskId}` }[of];
  return `The budget of ${whose}: ${showAmount(what, used)} of ${showAmount(what, limit)} is used`;
}

/** In the unit in which it is a whole number that is not too small. */
function showMinutes(minutes: number): string {
  const ms = minutes * 60_000;
  if (ms < 2_000) return `${Math.round(ms)} ms`;
  if (minutes < 2) return count(Math.round(ms / 1_000), 'seconds');
  if (minutes < 120) return count(Math.round(minutes), 'minutes');
  return `${Math.round(minutes / 6) / 10} hours`;
}

function count(amount: number, things: string): string {
  return `${amount} ${amount === 1 ? things.slice(0, -1) : things}`;
}
