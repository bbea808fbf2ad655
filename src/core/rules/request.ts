import { SYSTEM } from '../actor.ts';
import { budgetQuestions, isSameLimit } from '../budget-questions.ts';
import type { CommandOf } from '../command.ts';
import { countConflicts } from '../conflicts.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { ANSWER_WITHIN, CONFLICTS_PER_TASK, REJECTIONS_PER_TASK } from '../limits.ts';
import { requireShown } from '../request-revision.ts';
import { OwnKind } from '../request.ts';
import type { TeamRequest } from '../request.ts';
import { isExpected } from '../state.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { pendingRequests } from '../tables.ts';
import { joinSome, quote } from '../text.ts';
import { requireMember, requireTask } from '../view.ts';
import { requireActor, requireLive, requireManager, requireOpenTeam, requireSelf } from './guard.ts';
import { askPerson } from './question.ts';
import { freeId } from './request-id.ts';

/** How much of a text goes into a request: a person reads all of it. Characters. */
const ASKED_LENGTH = 4_000;

/** While a shutdown request waits, a second one has no effect. */
export function requestShutdown(state: TeamState, command: CommandOf<'shutdown.request'>): TeamEvent[] {
  requireOpenTeam(state);
  requireManager(state, command.by, 'ask others to shut down', command.memberId);
  const { id: memberId } = requireLive(state, command.memberId);
  if (pendingRequest(state, 'shutdown', memberId)) return [];
  const requestId = freeId(state, command.at, (at) => `shutdown-${at}@${memberId}`);
  const { reason, within } = command;
  const deadline = within === undefined ? undefined : command.at + within;
  return [event(command, 'shutdown:requested', { requestId, memberId, reason, deadline })];
}

/** Only the member itself can agree; Troupe answers for a member that is plain code. */
export function approveShutdown(state: TeamState, command: CommandOf<'shutdown.approve'>): TeamEvent[] {
  const { id: requestId, memberId } = answerable(state, command, 'shutdown');
  requireSelf(command.by, memberId, 'agree to the shutdown of');
  return [event(command, 'shutdown:approved', { requestId, memberId, feedback: command.feedback })];
}

export function rejectShutdown(state: TeamState, command: CommandOf<'shutdown.reject'>): TeamEvent[] {
  const { id: requestId, memberId } = answerable(state, command, 'shutdown');
  requireSelf(command.by, memberId, 'refuse the shutdown of');
  return [event(command, 'shutdown:rejected', { requestId, memberId, feedback: command.feedback })];
}

/** A newer plan replaces one that still waits. */
export function submitPlan(state: TeamState, command: CommandOf<'plan.submit'>): TeamEvent[] {
  requireOpenTeam(state);
  const { id: memberId } = requireLive(state, command.by);
  const requestId = freeId(state, command.at, (at) => `plan_approval-${at}@${memberId}@${state.teamId}`);
  return [
    event(command, 'plan:submitted', { requestId, memberId, content: command.content, filePath: command.filePath }),
  ];
}

export function approvePlan(state: TeamState, command: CommandOf<'plan.approve'>): TeamEvent[] {
  const { id: requestId, memberId } = judgeable(state, command);
  return [event(command, 'plan:approved', { requestId, memberId, feedback: command.feedback })];
}

export function rejectPlan(state: TeamState, command: CommandOf<'plan.reject'>): TeamEvent[] {
  const { id: requestId, memberId } = judgeable(state, command);
  return [event(command, 'plan:rejected', { requestId, memberId, feedback: command.feedback })];
}

/** The lead or a person judges a plan; never its author, and never Troupe's own code. */
function judgeable(state: TeamState, command: CommandOf<'plan.approve' | 'plan.reject'>): TeamRequest {
  const request = answerable(state, command, 'plan');
  requireManager(state, command.by, 'judge plans');
  if (command.by === request.memberId || command.by === SYSTEM) {
    throw new TeamError(
      'not_allowed',
      `${command.by} may not judge the plan of ${request.memberId}: only the lead or a person may`,
    );
  }
  return request;
}

function answerable(
  state: TeamState,
  command: CommandOf<'shutdown.approve' | 'shutdown.reject' | 'plan.approve' | 'plan.reject'>,
  kind: TeamRequest['kind'],
): TeamRequest {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const request = state.requests.get(command.requestId);
  if (request?.kind !== kind) {
    throw new TeamError('not_found', `There is no ${kind} request ${quote(command.requestId)}`, {
      facts: { list: 'request' },
    });
  }
  requirePending(request);
  requireShown(request, command.revision);
  return request;
}

function pendingRequest(state: TeamState, kind: TeamRequest['kind'], memberId: string): TeamRequest | undefined {
  return pendingRequests(state).find((request) => request.kind === kind && request.memberId === memberId);
}

/** Troupe asks a person. A member asks for itself, and nothing whose answer has consequences that Troupe draws. */
export function raiseRequest(state: TeamState, command: CommandOf<'request.raise'>): TeamEvent[] {
  requireOpenTeam(state);
  const { by, kind, memberId, taskId, content, within, detail } = command;
  if (by !== SYSTEM && !OwnKind.options.some((own) => own === kind)) {
    const advice = 'only Troupe may; ask a question instead';
    throw new TeamError('not_allowed', `${by} may not raise a request of the kind ${kind}: ${advice}`);
  }
  if (kind === 'restart') return askAboutRestart(state, command);
  if (kind === 'question') return askPerson(state, command);
  requireSelf(by, memberId, 'ask in the name of');
  requireLive(state, memberId);
  if (taskId !== undefined) requireTask(state, taskId);
  if (kind === 'gate' && taskId !== undefined && pendingGate(state, taskId)) return [];
  if (kind === 'budget' && !isDue(state, command)) return [];
  if (kind === 'account' && pendingAccount(state, detail)) return [];
  const requestId = freeId(state, command.at, (at) => `${kind}-${at}@${memberId}`);
  const deadline = command.at + (within ?? ANSWER_WITHIN[kind]);
  const question = by === SYSTEM ? command.question : undefined;
  return [event(command, 'request:raised', { requestId, kind, memberId, taskId, content, deadline, detail, question })];
}

/** Asks whether to try a given-up member once more. It has stopped, so Troupe asks for it. */
function askAboutRestart(state: TeamState, command: CommandOf<'request.raise'>): TeamEvent[] {
  const { kind, content, within, detail } = command;
  const member = requireMember(state, command.memberId);
  const memberId = member.id;
  if (isExpected(member)) {
    throw new TeamError('conflict', `Member ${memberId} is ${member.status}: there is nothing to start again`);
  }
  if (pendingRequest(state, kind, memberId)) return [];
  const requestId = freeId(state, command.at, (at) => `${kind}-${at}@${memberId}`);
  const deadline = command.at + (within ?? ANSWER_WITHIN[kind]);
  return [event(command, 'request:raised', { requestId, kind, memberId, content, deadline, detail })];
}

/** Work that a gate keeps rejecting goes to a person, once, with the result of the last try. */
export function askAboutRejections(state: TeamState, command: CommandOf<'task.reject'>, task: TaskRecord): TeamEvent[] {
  const times = task.rejections + 1;
  if (times < REJECTIONS_PER_TASK) return [];
  const said = `Task #${task.id} was sent back ${times} times. The last feedback: ${command.feedback}`;
  return askAboutWork(state, command, { task, said });
}

/** A person decides about work that conflicts again and again, because others land in the same places. */
export function askAboutConflicts(
  state: TeamState,
  command: CommandOf<'task.reject'>,
  task: TaskRecord,
  { commit, files }: { readonly commit: string; readonly files: readonly string[] },
): TeamEvent[] {
  const before = task.work?.epoch === task.epoch ? task.work : undefined;
  const times = countConflicts(before, commit);
  if (times < CONFLICTS_PER_TASK) return [];
  const said =
    `The work of task #${task.id} conflicted with landed work ${times} times, now in ${joinSome(files, ', ')}. ` +
    'Yes completes the task, and its work stays beside the branch. No sends it back.';
  return askAboutWork(state, command, { task, said, conflicted: true });
}

/** A person has to repair a gate that cannot judge, or decides what a refusal is worth; the work waits unchanged. */
export function askAboutGate(state: TeamState, command: CommandOf<'task.reject'>, task: TaskRecord): TeamEvent[] {
  const feedback = command.feedback.slice(0, ASKED_LENGTH / 2);
  const { unapproved } = command;
  if (command.refused && unapproved === undefined) {
    const how = 'Yes completes the task as it is. No gives it back, to be done again, with what you write.';
    const said = `The model refused task #${task.id}. ${feedback}\n${how}`;
    return askAboutWork(state, command, { task, said, refused: true });
  }
  const how =
    unapproved === undefined
      ? 'Yes completes the task without the gate. No sends it back. After you fix the gate, it can judge the same work again.'
      : 'Yes lands this work unjudged, and approves what it makes of the gate or the setup: that runs for later work. No sends it back.';
  const said = `No gate judged task #${task.id}. ${feedback}\n${how}`;
  return askAboutWork(state, command, { task, said, approves: unapproved });
}

function askAboutWork(
  state: TeamState,
  command: CommandOf<'task.reject'>,
  {
    task,
    said,
    conflicted,
    refused,
    approves,
  }: { task: TaskRecord; said: string; conflicted?: true; refused?: true; approves?: string | undefined },
): TeamEvent[] {
  const { at, result } = command;
  const { id: taskId, epoch, assigneeId } = task;
  if (assigneeId === undefined || pendingGate(state, taskId)) return [];
  return [
    event(command, 'request:raised', {
      requestId: freeId(state, at, (tick) => `gate-${tick}@${assigneeId}`),
      kind: 'gate',
      memberId: assigneeId,
      taskId,
      content: said.slice(0, ASKED_LENGTH),
      deadline: at + ANSWER_WITHIN.gate,
      detail: {
        epoch,
        ...(result !== undefined && { result: result.slice(0, ASKED_LENGTH) }),
        ...(conflicted && { conflicted }),
        ...(refused && { refused }),
        ...(approves !== undefined && { approves }),
      },
    }),
  ];
}

/** The pending request about a task that a gate keeps rejecting. One that names another member settles nothing. */
export function pendingGate(state: TeamState, taskId: string): TeamRequest | undefined {
  const holder = state.tasks.get(taskId)?.assigneeId;
  return pendingRequests(state, taskId).find(({ kind, memberId }) => kind === 'gate' && memberId === holder);
}

/** Whether a budget is still to be asked about: meanwhile another daemon may have asked, or a person may have answered. */
function isDue(state: TeamState, asked: CommandOf<'request.raise'>): boolean {
  return budgetQuestions(state, asked.at).some((question) => isSameLimit(asked, question));
}

/** A pending question about the same account. */
function pendingAccount(state: TeamState, detail: TeamRequest['detail']): boolean {
  return pendingRequests(state).some(
    (request) => request.kind === 'account' && request.detail?.['account'] === detail?.['account'],
  );
}

/** A request takes one answer. */
export function requirePending(request: TeamRequest): void {
  if (request.status === 'pending') return;
  throw new TeamError(
    'conflict',
    `The ${request.kind} request ${request.id} is ${request.status}: it takes one answer`,
  );
}
