import { describeShares } from './budget-shares.ts';
import { budgetUses, limitedTasks } from './budget-use.ts';
import type { OwnedUse } from './budget-use.ts';
import { describeUse, showAmount } from './budget-words.ts';
import { grantOf } from './budget.ts';
import type { Limits } from './budget.ts';
import { waitsToLand } from './queue-view.ts';
import type { RaiseRequestInput, TeamRequest } from './request.ts';
import type { TeamState } from './state.ts';
import { pendingRequests } from './tables.ts';
import { requireMember } from './view.ts';
import { OVER_BUDGET, waitingOf } from './waiting.ts';

/**
 * The questions that a person should be asked now: of each budget that is used up, unless it was asked. They follow from
 * the state, not from an event, so that none is lost with a daemon or with the member that stopped.
 */
export function budgetQuestions(state: TeamState, at: number): RaiseRequestInput[] {
  if (state.team?.status !== 'active') return [];
  const live = [...state.members.values()].filter(({ status }) => status !== 'stopped');
  const questions: RaiseRequestInput[] = [];
  const ofTeam = new Set<string>();
  for (const { id: memberId, agent, joinedAt } of live) {
    for (const use of budgetUses(state, { memberId }, at)) {
      if (use.share < 1 || (use.of === 'team' && !agent)) continue;
      if (findAsked(state, use, memberId, joinedAt)) continue;
      if (use.of === 'team' && ofTeam.has(use.what)) continue;
      if (use.of === 'team') ofTeam.add(use.what);
      questions.push(questionAbout(state, use, { memberId, at }));
    }
  }
  return [...questions, ...taskQuestions(state, at)];
}

/** About the budgets of tasks. A no ends the task, so that only a question that waits keeps the next one back. */
function taskQuestions(state: TeamState, at: number): RaiseRequestInput[] {
  return limitedTasks(state).flatMap(({ task, memberId }) => {
    const holder = requireMember(state, memberId);
    if (holder.status === 'stopped' || waitsToLand(task)) return [];
    const isWaiting = waitingOf(holder) === OVER_BUDGET;
    return budgetUses(state, { taskId: task.id }, at)
      .filter(({ of, what, share }) => of === 'task' && share >= 1 && (what !== 'turns' || isWaiting))
      .map((use) => questionAbout(state, use, { memberId, at }))
      .filter((question) => !pendingRequests(state, task.id).some((asked) => isSameLimit(asked, question)));
  });
}

/** Whether two requests are about one limit. */
export function isSameLimit(
  one: Pick<TeamRequest, 'kind' | 'memberId' | 'taskId' | 'detail'>,
  other: Pick<RaiseRequestInput, 'kind' | 'memberId' | 'taskId' | 'detail'>,
): boolean {
  const of = other.detail?.['of'];
  if (one.kind !== 'budget' || other.kind !== 'budget' || one.detail?.['of'] !== of) return false;
  if (one.detail?.['what'] !== other.detail?.['what']) return false;
  return of === 'team' || (of === 'task' ? one.taskId === other.taskId : one.memberId === other.memberId);
}

/** A pending question about the same limit; or a no, which holds until a person brings the member up again. */
function findAsked(state: TeamState, use: OwnedUse, memberId: string, joinedAt: Date): TeamRequest | undefined {
  return [...state.requests.values()].findLast((request) => {
    if (!isSameLimit(request, { kind: 'budget', memberId, detail: { ...use } })) return false;
    const { status, detail, answeredAt } = request;
    if (status === 'pending') return true;
    return status === 'rejected' && detail?.['limit'] === use.limit && (answeredAt as Date) >= joinedAt;
  });
}

function questionAbout(
  state: TeamState,
  use: OwnedUse,
  { memberId, at }: { memberId: string; at: number },
): RaiseRequestInput {
  const { of, taskId, what, used, limit } = use;
  const grants = grantOf(ownerOf(state, use, memberId), what);
  const shares = describeShares(state, use, memberId, at);
  const content = [
    describeUse(use, memberId),
    shares,
    `Yes allows ${showAmount(what, grants)} more${of === 'task' ? ', no ends the task' : ''}`,
    'Until then no new turn begins, and turns that run are interrupted after a short time.',
  ]
    .filter(Boolean)
    .join('. ');
  const about = taskId === undefined ? {} : { taskId };
  return { kind: 'budget', memberId, ...about, content, detail: { of, what, used, limit, grants } };
}

function ownerOf({ team, members, tasks }: TeamState, use: OwnedUse, memberId: string): Limits | undefined {
  if (use.of === 'team') return team;
  return use.of === 'task' ? tasks.get(use.taskId) : members.get(memberId);
}
