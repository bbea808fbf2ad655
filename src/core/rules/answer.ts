import { SYSTEM, USER } from '../actor.ts';
import { budgetUses } from '../budget-use.ts';
import { grantMore } from '../budget.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { rejoinInput } from '../rejoin.ts';
import type { RaisedKind, TeamRequest } from '../request.ts';
import { isExpected } from '../state.ts';
import type { TeamState } from '../state.ts';
import { quote } from '../text.ts';
import { requireOpenTeam } from './guard.ts';
import { joinTeam } from './member.ts';
import { requirePending } from './request.ts';
import { completeTask, failTask, releaseTask } from './task.ts';

type Answer = CommandOf<'request.answer'>;

/**
 * Only a person says yes. Troupe may only say no, after the deadline, unless a person's rule allows it. What follows
 * from the answer is decided with it and stored in the same batch. So no crash leaves an answer without its
 * consequence, and none has it twice. If the consequence is refused, so is the answer, and the request still waits.
 */
export function answerRequest(state: TeamState, command: Answer): TeamEvent[] {
  requireOpenTeam(state);
  const request = state.requests.get(command.requestId);
  if (!request || request.kind === 'shutdown' || request.kind === 'plan') {
    throw new TeamError('not_found', `There is no request ${quote(command.requestId)}`, {
      facts: { list: 'request' },
    });
  }
  if (command.by !== USER && command.by !== SYSTEM) {
    throw new TeamError('not_allowed', `${command.by} may not answer ${request.id}: only a person may`);
  }
  requirePending(request);
  const { requestId, approve: approved, feedback } = command;
  return [
    event(command, 'request:answered', { requestId, memberId: request.memberId, approved, feedback }),
    ...CONSEQUENCES[request.kind](state, command, request),
  ];
}

type Consequence = (state: TeamState, answer: Answer, request: TeamRequest) => TeamEvent[];

/** What follows from the answer to each kind of request. */
const CONSEQUENCES: Readonly<Record<RaisedKind, Consequence>> = {
  gate: settleWork,
  budget: grantBudget,
  restart: startAgain,
  // The member's process waits for the answer, and reads on from where it was if its daemon is replaced.
  permission: () => [],
};

/**
 * Work that a gate kept rejecting. Yes completes the task as it is. No releases it to be done again, with the person's
 * feedback. If nobody answered in time, the task fails.
 */
function settleWork(state: TeamState, { at, by, commandId, approve, feedback, work }: Answer, request: TeamRequest) {
  const task = state.tasks.get(request.taskId ?? '');
  if (task?.status !== 'in_progress' || task.assigneeId !== request.memberId) return [];
  const { epoch: askedAt = task.epoch, result, conflicted } = request.detail ?? {};
  // A new attempt has begun since; the answer was about the earlier one.
  if (askedAt !== task.epoch) return [];
  const about = { at, by, commandId, taskId: task.id, epoch: task.epoch };
  if (approve) {
    const said = typeof result === 'string' ? { result } : {};
    // Work that conflicts cannot land; the task keeps it as it was handed in.
    return completeTask(state, { type: 'task.complete', ...about, ...said, ...(!conflicted && { work }) });
  }
  if (by === SYSTEM) {
    return failTask(state, { type: 'task.fail', ...about, reason: `${request.content}\nNobody looked at it in time.` });
  }
  // The full text becomes the task's feedback, like a gate's, and goes into the next attempt.
  const reason = feedback ? `sent back: ${feedback.split('\n', 1)[0]}`.slice(0, 900) : 'sent back by a person';
  return releaseTask(state, { type: 'task.release', ...about, reason });
}

/** Grants more of a budget that is used up. If somebody raised it meanwhile, the request is settled. */
function grantBudget(state: TeamState, answer: Answer, { memberId, detail }: TeamRequest): TeamEvent[] {
  if (!answer.approve) return [];
  const use = budgetUses(state, memberId, answer.at).find(
    ({ of, what }) => of === detail?.['of'] && what === detail['what'],
  );
  if (!use || use.share < 1) return [];
  const limits = use.of === 'team' ? state.team : state.members.get(memberId);
  const changes = grantMore(limits ?? {}, use);
  return use.of === 'team'
    ? [event(answer, 'team:updated', changes)]
    : [event(answer, 'teammate:changed', { memberId, ...changes })];
}

/** Restarts a member that crashed too often; it resumes its session if possible. It may already be back. */
function startAgain(state: TeamState, { at, by, commandId, approve }: Answer, { memberId }: TeamRequest): TeamEvent[] {
  const member = state.members.get(memberId);
  if (!approve || !member || isExpected(member)) return [];
  if (!member.agent) {
    throw new TeamError('unsupported', `Troupe does not run ${memberId}, so it cannot restart it: say no instead`);
  }
  return joinTeam(state, { type: 'member.join', at, by, commandId, ...rejoinInput(member) });
}
