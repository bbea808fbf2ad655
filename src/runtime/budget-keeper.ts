import { SYSTEM, USER } from '../core/actor.ts';
import { BUDGET_WARNING, budgetUses } from '../core/budget-use.ts';
import type { BudgetUse } from '../core/budget-use.ts';
import { raiseBudget } from '../core/budget.ts';
import type { TeamRequest } from '../core/request.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';

/**
 * Compares usage with budgets. At 80 % it tells the lead once; at 100 % it asks a person, whose yes grants the same
 * amount again. The code that starts turns must check that none begins meanwhile.
 */
export function keepBudgets(
  { ledger, mailbox }: { ledger: Ledger; mailbox: Mailbox },
  onError: (error: unknown, teamId: string) => void,
): () => void {
  /** Warnings already sent; a restart may repeat one. */
  const warned = new Set<string>();
  return ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) {
      if (event.type === 'usage:recorded') {
        look(teamId, event.memberId, event.at, state).catch((error: unknown) => onError(error, teamId));
      }
      if (event.type === 'request:answered' && event.approved) {
        carryOut(ledger, teamId, state.requests.get(event.requestId), state).catch((error: unknown) =>
          onError(error, teamId),
        );
      }
    }
  });

  async function look(teamId: string, memberId: string, at: number, state: TeamState): Promise<void> {
    if (state.team?.status !== 'active') return;
    const [worst] = budgetUses(state, memberId, at);
    if (!worst || worst.share < BUDGET_WARNING) return;
    if (worst.share >= 1) await askPerson(ledger, teamId, memberId, worst, state);
    else await warnLead(teamId, memberId, worst, state);
  }

  async function warnLead(teamId: string, memberId: string, use: BudgetUse, state: TeamState): Promise<void> {
    const key = `${teamId} ${use.of === 'team' ? '' : memberId} ${use.what} ${use.limit}`;
    if (warned.has(key) || !state.team) return;
    warned.add(key);
    const content = `${describeUse(use, memberId)}. At 100 % no new turn begins until a person raises it.`;
    await mailbox.send(teamId, SYSTEM, { toId: state.team.leadId, content, type: 'system', metadata: { memberId } });
  }
}

/** Asks once about a team's budget, whichever member reaches it. */
async function askPerson(
  ledger: Ledger,
  teamId: string,
  memberId: string,
  use: BudgetUse,
  state: TeamState,
): Promise<void> {
  const isSame = ({ kind, status, detail, memberId: whose }: TeamRequest): boolean =>
    kind === 'budget' &&
    status === 'pending' &&
    detail?.['of'] === use.of &&
    detail['what'] === use.what &&
    (use.of === 'team' || whose === memberId);
  if ([...state.requests.values()].some(isSame)) return;
  const { of, what, used, limit } = use;
  const content = `${describeUse(use, memberId)}. Yes allows the same amount again. Until then no new turn begins.`;
  const raise: NewCommand = {
    type: 'request.raise',
    by: SYSTEM,
    kind: 'budget',
    memberId,
    content,
    detail: { of, what, used, limit },
  };
  await ledger.execute(teamId, raise, () => undefined);
}

async function carryOut(
  ledger: Ledger,
  teamId: string,
  request: TeamRequest | undefined,
  state: TeamState,
): Promise<void> {
  if (request?.kind !== 'budget') return;
  const of = request.detail?.['of'];
  const use = budgetUses(state, request.memberId, request.answeredAt?.getTime() ?? 0).find(
    (one) => one.of === of && one.what === request.detail?.['what'],
  );
  // Somebody changed the budget meanwhile, so the request is settled.
  if (!use || use.share < 1) return;
  const before = use.of === 'team' ? state.team?.budget : state.members.get(request.memberId)?.budget;
  const budget = raiseBudget(before ?? {}, use);
  const change: NewCommand =
    use.of === 'team'
      ? { type: 'team.update', by: USER, budget }
      : { type: 'member.change', by: USER, memberId: request.memberId, budget };
  await ledger.execute(teamId, change, () => undefined);
}

/** In words: whose budget, of what, how much. */
function describeUse({ of, what, used, limit }: BudgetUse, memberId: string): string {
  const show = (value: number): string => {
    if (what === 'costUsd') return `$${value.toFixed(2)}`;
    const count = Math.round(value);
    return `${count} ${count === 1 ? what.slice(0, -1) : what}`;
  };
  return `The budget of ${of === 'team' ? 'the team' : memberId}: ${show(used)} of ${show(limit)} is used`;
}
