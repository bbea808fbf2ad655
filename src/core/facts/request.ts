import { USER } from '../actor.ts';
import { revisionOf } from '../request-revision.ts';
import type { RequestStatus, TeamRequest } from '../request.ts';
import type { TeamState } from '../state.ts';
import { putRequest } from '../tables.ts';
import { changeMember, changeTask, withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const REQUEST_FACTS: ApplyTo<'shutdown' | 'plan' | 'request'> = {
  'shutdown:requested': (state, { at, by, requestId, memberId, reason, deadline }) =>
    putRequest(state, requestId, {
      id: requestId,
      teamId: state.teamId,
      kind: 'shutdown',
      memberId,
      requestedBy: by,
      requestedAt: new Date(at),
      content: reason,
      deadline: deadline === undefined ? undefined : new Date(deadline),
      status: 'pending',
    }),

  'shutdown:approved': (state, event) => {
    answerRequest(state, event, 'approved');
    changeMember(state, event.memberId, (member) => ({
      ...member,
      status: 'shutting-down',
      statusSince: new Date(event.at),
    }));
  },

  'shutdown:rejected': (state, event) => answerRequest(state, event, 'rejected'),

  'plan:submitted': (state, { at, by, requestId, memberId, content, filePath }) => {
    withdrawRequests(state, (request) => request.kind === 'plan' && request.memberId === memberId);
    ask(state, {
      id: requestId,
      teamId: state.teamId,
      kind: 'plan',
      memberId,
      requestedBy: by,
      requestedAt: new Date(at),
      content,
      filePath,
      status: 'pending',
    });
  },

  'plan:approved': (state, event) => {
    answerRequest(state, event, 'approved');
    changeMember(state, event.memberId, (member) => ({ ...member, planApproved: true }));
  },

  'plan:rejected': (state, event) => answerRequest(state, event, 'rejected'),

  'request:raised': (state, { at, by, requestId, kind, memberId, taskId, content, deadline, detail, question }) =>
    ask(state, {
      id: requestId,
      teamId: state.teamId,
      kind,
      memberId,
      requestedBy: by,
      requestedAt: new Date(at),
      content,
      taskId,
      deadline: deadline === undefined ? undefined : new Date(deadline),
      detail,
      question,
      status: 'pending',
    }),

  'request:answered': (state, event) => {
    answerRequest(state, event, event.approved ? 'approved' : 'rejected');
    const { kind, taskId } = state.requests.get(event.requestId) ?? {};
    // The work starts over with a full number of tries; the person's feedback replaces the gate's.
    const isAnew =
      (kind === 'gate' || ((kind === 'work' || kind === 'review') && event.by === USER)) &&
      taskId !== undefined &&
      !event.approved;
    if (!isAnew) return;
    const { at, feedback } = event;
    changeTask(state, taskId, at, (task) => ({ ...task, rejections: 0, feedback: feedback ?? task.feedback }));
  },
};

function ask(state: TeamState, request: TeamRequest): void {
  putRequest(state, request.id, { ...request, revision: revisionOf(request) });
}

/** What the events of an answer say. */
interface Answered extends Pick<TeamRequest, 'feedback' | 'choice' | 'grants'> {
  readonly at: number;
  readonly by: string;
  readonly requestId: string;
}

function answerRequest(state: TeamState, answer: Answered, status: RequestStatus): void {
  const request = state.requests.get(answer.requestId);
  if (!request) return;
  putRequest(state, answer.requestId, {
    ...request,
    status,
    answeredBy: answer.by,
    answeredAt: new Date(answer.at),
    feedback: answer.feedback,
    choice: answer.choice,
    grants: answer.grants,
  });
}
