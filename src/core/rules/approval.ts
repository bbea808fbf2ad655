import { SYSTEM } from '../actor.ts';
import { approverOf, isHandedIn } from '../approval.ts';
import type { Approver } from '../approval.ts';
import type { CommandEnvelope, CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { ANSWER_WITHIN } from '../limits.ts';
import type { TeamRequest } from '../request.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { pendingRequests } from '../tables.ts';
import { quote, shorten } from '../text.ts';
import { requireTask } from '../view.ts';
import type { HandedInWork } from '../work.ts';
import { requireFresh, requireOpenTeam } from './guard.ts';
import { requireAccepted, requireInLanding, requireTip, requireTroupe } from './landing.ts';
import { freeId } from './request-id.ts';
import type { RulesOf } from './rule.ts';

/** How much of a result goes into a question. Characters. */
const RESULT_LENGTH = 2_000;

/** Work that the gates accepted waits for its approval, outside the queue: it holds up nobody. */
export const APPROVAL_RULES: Pick<RulesOf<'work'>, 'work.ask'> = { 'work.ask': askAboutWork };

function askAboutWork(state: TeamState, command: CommandOf<'work.ask'>): TeamEvent[] {
  requireOpenTeam(state);
  requireTroupe(command);
  const { taskId, epoch, commit, landingId, onto, merged, mergedPack: pack } = command;
  const task = requireTask(state, taskId);
  requireFresh(task, { epoch });
  const work = requireInLanding(state, task, { commit, landingId });
  requireTip(state, onto, `of task ${taskId}`);
  requireAccepted({ by: SYSTEM, refused: work.refused, accepted: command.accepted }, task);
  const approver = approverOf(state, task);
  if (!approver) throw new TeamError('conflict', `The work of task ${taskId} needs no approval: land it`);
  return [
    event(command, 'work:asked', { taskId, epoch, commit, landingId, onto, merged, pack }),
    ...ask(state, command, { ...task, work }, approver),
  ];
}

/** A reviewer that stops does not answer: a person does. */
export function askInPlaceOf(state: TeamState, command: CommandEnvelope, reviewerId: string): TeamEvent[] {
  return pendingRequests(state)
    .filter(({ kind, memberId }) => kind === 'review' && memberId === reviewerId)
    .flatMap((request) => {
      const task = askedTask(state, request);
      const why = `The reviewer ${reviewerId} stopped before it answered.`;
      return task ? ask(state, command, task, { kind: 'work', why }) : [];
    });
}

/** A task whose work was handed in. */
export type AskedTask = TaskRecord & { readonly work: HandedInWork };

/** The task whose work a request is about. A journal from elsewhere may ask about work that does not wait. */
export function askedTask({ tasks }: TeamState, { taskId = '', detail }: TeamRequest): AskedTask | undefined {
  const task = tasks.get(taskId);
  if (!task || task.status !== 'in_progress' || !isHandedIn(task.work) || task.work.state !== 'asked') return undefined;
  const { work, epoch } = task;
  return work.commit === detail?.['commit'] && work.epoch === epoch ? { ...task, work } : undefined;
}

/** Asks the team's reviewer by mail, or a person. The question is about one commit. */
export function ask(state: TeamState, command: CommandEnvelope, task: AskedTask, approver: Approver): TeamEvent[] {
  const { id: taskId, epoch, title, work } = task;
  const { commit, files, added, removed, memberId: holder, result } = work;
  const { kind } = approver;
  const memberId = kind === 'review' ? approver.memberId : holder;
  const requestId = freeId(state, command.at, (at) => `${kind}-${at}-${taskId}@${memberId}`);
  const size = `${files === 1 ? '1 file' : `${files} files`}, +${added} -${removed}`;
  const what = `${holder} handed in task #${taskId} (${quote(title)}): ${size}, commit ${shortId(commit)}. The gates accept it.`;
  const said = result ? `\nIts result: ${shorten(result, RESULT_LENGTH)}` : '';
  const why = kind === 'work' && approver.why !== undefined ? `\n${approver.why}` : '';
  const troupe = { ...command, by: SYSTEM };
  const raised = event(troupe, 'request:raised', {
    requestId,
    kind,
    memberId,
    taskId,
    content: `${what}${said}${why}\nYes lands it. No sends it back to ${holder}, with your comments.`,
    deadline: command.at + ANSWER_WITHIN[kind],
    detail: { epoch, commit, holder, files, added, removed },
  });
  if (kind === 'work') return [raised];
  const mail = event(troupe, 'message:sent', {
    copies: [{ id: `${requestId}/${memberId}`, toId: memberId }],
    messageType: 'system',
    content:
      `${what}${said}\nPlease review it before it lands. WorkDiff with of "${taskId}" shows it (or: troupe diff ${taskId}). ` +
      `Answer with WorkReview: taskId "${taskId}", commit "${commit}", approve true or false, and comments on lines ` +
      `(or: troupe work review ${taskId} ${shortId(commit)} --approve). Without an answer in an hour, a person is asked.`,
    priority: 'normal',
    metadata: { taskId },
  });
  return [raised, mail];
}
