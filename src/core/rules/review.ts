import { SYSTEM, USER } from '../actor.ts';
import { needsPerson } from '../approval.ts';
import type { CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { REVIEW_BYTES } from '../limits.ts';
import type { TeamRequest } from '../request.ts';
import type { ReviewComment } from '../review.ts';
import type { TeamState } from '../state.ts';
import { pendingRequests } from '../tables.ts';
import { byteLength, cutToBytes, oneLine } from '../text.ts';
import { requireTask } from '../view.ts';
import { ask, askedTask } from './approval.ts';
import type { AskedTask } from './approval.ts';
import { rejectTask, sendBackTask } from './give-back.ts';
import { unblockedBy } from './graph.ts';
import { requireOpenTeam } from './guard.ts';
import { failTask } from './task.ts';
import { requireWork } from './work.ts';

type Answer = CommandOf<'request.answer'>;

/** The pending question about a work that a reviewer answers. Its verdict is about the commit that it looked at. */
export function reviewable(state: TeamState, { by, taskId, commit }: CommandOf<'work.review'>): TeamRequest {
  requireOpenTeam(state);
  const { work } = requireTask(state, taskId);
  const request = pendingRequests(state, taskId).find(({ kind }) => kind === 'review' || kind === 'work');
  if (!request || work?.state !== 'asked') {
    throw new TeamError('conflict', `The work of task ${taskId} does not wait for a review`);
  }
  requireAsked(request, commit);
  const isReviewer = request.kind === 'review' && by === request.memberId;
  if (isReviewer || by === USER) return request;
  const who = request.kind === 'review' ? `${request.memberId} or a person` : 'a person';
  throw new TeamError('not_allowed', `${by} may not review the work of task ${taskId}: only ${who} may`);
}

/** An answer about another commit than the one that was handed in does not count. */
export function requireAsked({ id, taskId, detail }: TeamRequest, commit: string): void {
  const asked = detail?.['commit'];
  if (typeof asked === 'string' && asked.startsWith(commit)) return;
  if (typeof asked !== 'string') throw new TeamError('invalid', `Request ${id} is about no commit: leave it out`);
  throw new TeamError(
    'stale_revision',
    `The work of task ${taskId} is ${shortId(asked)} now, not ${shortId(commit)}: look at it again`,
  );
}

/**
 * What follows from the verdict about work. Yes lands it, or takes it back into the queue if the branch has moved since
 * it was judged. No sends it back to its holder. If the reviewer does not answer, a person is asked; if nobody does, the
 * task fails.
 */
export function settleReview(state: TeamState, answer: Answer, request: TeamRequest): TeamEvent[] {
  const task = askedTask(state, request);
  if (!task) return [];
  const { approve, by, feedback } = answer;
  const isReview = request.kind === 'review';
  if (approve) {
    const why = `${request.memberId} reviewed it and approves${feedback ? `: ${feedback}` : '.'}`;
    return isReview && by !== USER && needsPerson(requireWork(state), task.work)
      ? ask(state, answer, task, { kind: 'work', why })
      : land(state, answer, task);
  }
  if (by !== SYSTEM) return sendBack(state, answer, task);
  if (isReview) {
    const why = `The reviewer ${request.memberId} did not answer in time.`;
    return ask(state, answer, task, { kind: 'work', why });
  }
  const { at, commandId } = answer;
  const reason = `${request.content}\nNobody looked at it in time.`;
  return failTask(state, { type: 'task.fail', at, by, commandId, taskId: task.id, epoch: task.epoch, reason });
}

/** As it was judged, if the branch has not moved since. */
function land(state: TeamState, answer: Answer, task: AskedTask): TeamEvent[] {
  const { id: taskId, epoch, work } = task;
  const { commit, onto = '', merged = '', judged, completer = SYSTEM, result } = work;
  if (onto !== requireWork(state).tip) return [event(answer, 'work:approved', { taskId, epoch, commit })];
  const { landingId, pack }: Partial<NonNullable<typeof judged>> = { ...judged };
  const completed = { ...answer, by: completer };
  return [
    event(answer, 'work:landed', { taskId, epoch, commit, onto, merged, landingId, pack }),
    event(completed, 'task:completed', { taskId, memberId: task.assigneeId, result }),
    ...unblockedBy(state, completed, task),
  ];
}

/** A member's no counts like a gate's. A person's begins the count again: a person looks at it already. */
function sendBack(state: TeamState, { at, by, commandId, feedback = '' }: Answer, task: AskedTask): TeamEvent[] {
  const who = by === USER ? 'A person' : by;
  const { commit, result } = task.work;
  const said = `${who} reviewed commit ${shortId(commit)} and sends it back.\n${feedback}`.trim();
  const rejection = { type: 'task.reject', at, commandId, taskId: task.id, epoch: task.epoch, feedback: said } as const;
  if (by === USER) return sendBackTask(state, { ...rejection, by }, task);
  return rejectTask(state, { ...rejection, by: SYSTEM, result });
}

/** One text of a summary and comments on lines, within a bound. */
export function reviewText(summary: string | undefined, comments: readonly ReviewComment[] = []): string | undefined {
  if (comments.length === 0) return summary;
  let text = summary ? `${cutToBytes(summary, REVIEW_BYTES / 2)}\n` : '';
  for (const [i, { path, line, side, text: said }] of comments.entries()) {
    const next = `\n${oneLine(path, path.length)}:${line}${side === 'old' ? ' (removed)' : ''}: ${said}`;
    if (byteLength(text + next) > REVIEW_BYTES) return `${text}\n(${comments.length - i} more comments do not fit.)`;
    text += next;
  }
  return text.trim();
}
