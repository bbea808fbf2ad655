import { SYSTEM, USER } from '../actor.ts';
import { budgetUses } from '../budget-use.ts';
import { describeUse } from '../budget-words.ts';
import { Budget, grantMore } from '../budget.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { stoppedBy } from '../limit-question.ts';
import { answerMessageId } from '../question.ts';
import { waitsToLand } from '../queue-view.ts';
import { rejoinInput } from '../rejoin.ts';
import { requireShown } from '../request-revision.ts';
import type { QuestionKind, TeamRequest } from '../request.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { pendingRequests } from '../tables.ts';
import { firstLine, quote, shorten } from '../text.ts';
import { requireMember, requireTeam } from '../view.ts';
import { releaseTask } from './give-back.ts';
import { requireOpenTeam } from './guard.ts';
import { joinTeam, stopMember } from './member.ts';
import { holdsSince, requireAnswer } from './question.ts';
import { requirePending } from './request.ts';
import { requireAsked, reviewable, reviewText, settleReview } from './review.ts';
import { completeTask, failTask } from './task.ts';

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
  requireShown(request, command.revision);
  requireGrants(request, command);
  const { commit, comments = [] } = command;
  if (commit !== undefined) requireAsked(request, commit);
  if (comments.length > 0 && request.kind !== 'work' && request.kind !== 'review') {
    throw new TeamError('invalid', `Request ${request.id} is not about work: answer it with a text, not with comments`);
  }
  requireAnswer(request, command);
  return settle(state, command, { ...request, kind: request.kind });
}

/** The reviewer's verdict about work: an answer to the question that waits. */
export function reviewWork(state: TeamState, command: CommandOf<'work.review'>): TeamEvent[] {
  const request = reviewable(state, command);
  const { at, by, commandId, approve, summary, comments } = command;
  const answer = { at, by, commandId, requestId: request.id, approve, feedback: summary, comments };
  return settle(state, { type: 'request.answer', ...answer }, { ...request, kind: request.kind as QuestionKind });
}

function settle(
  state: TeamState,
  command: Answer,
  request: TeamRequest & { readonly kind: QuestionKind },
): TeamEvent[] {
  const { requestId, approve: approved, comments } = command;
  const { kind, memberId } = request;
  const feedback = reviewText(command.feedback, comments);
  const choice = approved ? command.choice : request.question?.fallback;
  const grants = approved ? (command.grants ?? offerOf(request)) : undefined;
  return [
    event(command, 'request:answered', { requestId, memberId, approved, feedback, choice, grants, kind }),
    ...CONSEQUENCES[kind](state, { ...command, feedback, choice }, request),
  ];
}

type Consequence = (state: TeamState, answer: Answer, request: TeamRequest) => TeamEvent[];

/** What follows from the answer to each kind of request. */
const CONSEQUENCES: Readonly<Record<QuestionKind, Consequence>> = {
  gate: settleWork,
  budget: grantBudget,
  restart: startAgain,
  work: settleReview,
  question: followAnswer,
  review: settleReview,
  // The member's process waits for the answer, and reads on from where it was if its daemon is replaced.
  permission: () => [],
  hang: () => [],
  account: useAgain,
};

/**
 * A person has logged in, so the account is used again at once. If its limit is reached, a person may stop its members;
 * an agent that a person chose is read from the answer when a turn is to begin.
 */
function useAgain(state: TeamState, answer: Answer, request: TeamRequest): TeamEvent[] {
  const { detail, question } = request;
  if (question) {
    const reason = 'stopped by a person: the limit of its account is reached';
    return stoppedBy(state, answer.choice, request).flatMap((id) => stopMember(state, answer, id, { reason }));
  }
  const account = String(detail?.['account']);
  if (!answer.approve || !state.accounts.get(account)?.limit) return [];
  return [event(answer, 'account:changed', { account, limit: null })];
}

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
  const reason = feedback ? `sent back: ${firstLine(feedback)}`.slice(0, 900) : 'sent back by a person';
  return releaseTask(state, { type: 'task.release', ...about, reason });
}

/** An amount goes only with a yes to a budget, in steps that its unit has. */
function requireGrants({ id, kind, detail }: TeamRequest, { approve, grants }: Answer): void {
  if (grants === undefined) return;
  const wrong = ((): string | undefined => {
    if (kind !== 'budget') return `request ${id} is not about a budget: leave it out`;
    if (!approve) return 'a no gives nothing: leave it out';
    const what = String(detail?.['what']);
    if ((what === 'tokens' || what === 'turns') && !Number.isInteger(grants)) return `${what} are whole numbers`;
    return Budget.safeParse({ [what]: grants }).success ? undefined : `${grants} is too much of ${what}`;
  })();
  if (wrong !== undefined) throw new TeamError('invalid', `grants: ${wrong}`);
}

/** How much the request says that a yes gives. */
function offerOf({ kind, detail }: TeamRequest): number | undefined {
  const offered = kind === 'budget' ? detail?.['grants'] : undefined;
  return typeof offered === 'number' ? offered : undefined;
}

/**
 * Grants more of a budget that is used up: what the person said, else what the request offered. If somebody raised it
 * meanwhile, the request is settled. Without more, a task fails: its holder could neither go on with it nor take another.
 */
function grantBudget(state: TeamState, answer: Answer, request: TeamRequest): TeamEvent[] {
  const { memberId, taskId, detail } = request;
  const use = budgetUses(state, { memberId, taskId }, answer.at).find(
    ({ of, what }) => of === detail?.['of'] && what === detail['what'],
  );
  if (!use || use.share < 1) return [];
  const task = use.taskId === undefined ? undefined : state.tasks.get(use.taskId);
  if (!answer.approve) return task ? endTask(state, answer, { task, reason: describeUse(use, memberId) }) : [];
  const more = { ...use, grants: answer.grants ?? offerOf(request) };
  if (task) return [event(answer, 'task:updated', { taskId: task.id, ...grantMore(task, more) })];
  return use.of === 'team'
    ? [event(answer, 'team:updated', grantMore(requireTeam(state), more))]
    : [event(answer, 'teammate:changed', { memberId, ...grantMore(requireMember(state, memberId), more) })];
}

/** Fails a task that gets no more budget. Work that was handed in needs none. */
function endTask(
  state: TeamState,
  { at, by, commandId, feedback }: Answer,
  { task, reason }: { task: TaskRecord; reason: string },
): TeamEvent[] {
  if (task.status !== 'in_progress' || waitsToLand(task)) return [];
  const why = feedback ?? (by === SYSTEM ? 'Nobody answered in time.' : 'No more was granted.');
  const about = { at, by, commandId, taskId: task.id, epoch: task.epoch };
  return failTask(state, { type: 'task.fail', ...about, reason: `${reason}. ${why}` });
}

/**
 * Restarts a member that crashed too often; it resumes its session if possible. If the yes is about the setup of
 * workspaces, it is for all members that wait for the same answer. The question is withdrawn when its member is back.
 */
function startAgain(state: TeamState, { at, by, commandId, approve }: Answer, request: TeamRequest): TeamEvent[] {
  if (!approve) return [];
  const setup = request.detail?.['setup'];
  const others = pendingRequests(state).filter(
    ({ id, kind, detail }) => kind === 'restart' && id !== request.id && setup && detail?.['setup'] === setup,
  );
  return [request, ...others].flatMap(({ memberId }) => {
    const member = requireMember(state, memberId);
    if (!member.agent) {
      throw new TeamError('unsupported', `Troupe does not run ${memberId}, so it cannot restart it: say no instead`);
    }
    return joinTeam(state, { type: 'member.join', at, by, commandId, ...rejoinInput(member) });
  });
}

/** How much of its question a member reads again with the answer, in characters. */
const REPEATED = 500;

/**
 * What follows from an answer, or from none: a message that wakes the member. Without an answer, the task fails if the
 * member asked for that and still holds it.
 */
function followAnswer(state: TeamState, command: Answer, request: TeamRequest): TeamEvent[] {
  const { at, by, commandId, approve, choice, feedback } = command;
  const { id, memberId, taskId, content, question, detail } = request;
  if (!approve && question?.otherwise === 'fail' && taskId !== undefined) {
    const epoch = holdsSince(state, taskId, memberId);
    if (epoch !== undefined && epoch === detail?.['epoch']) {
      const reason = `It needed an answer and got none.${feedback ? ` ${feedback}` : ''} It asked: ${content}`;
      return failTask(state, { type: 'task.fail', at, by, commandId, taskId, epoch, reason });
    }
  }
  const said = [choice, feedback].filter((text) => text !== undefined && text.trim() !== '');
  return [
    event(command, 'message:sent', {
      copies: [{ id: answerMessageId(id), toId: memberId }],
      messageType: by === SYSTEM ? 'system' : 'direct',
      content: `You asked: ${shorten(content, REPEATED)}\n${wordOutcome(command)}${said.join('\n')}`,
      summary: `answer to ${id}`,
      priority: 'normal',
      metadata: { requestId: id },
    }),
  ];
}

function wordOutcome({ by, approve, choice }: Answer): string {
  if (approve) return 'The answer: ';
  const who = by === USER ? 'Your user leaves it to you' : 'Nobody answered in time';
  return choice === undefined ? `${who}: go on as you think best. ` : `${who}: the default counts. The answer: `;
}
