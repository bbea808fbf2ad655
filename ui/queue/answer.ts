import { showGrant } from '../../src/client/replica.ts';
import { call } from '../data/daemon.ts';
import type { LineComment, Reviewed } from '../data/review-drafts.ts';

/** A request as a card shows it, from the queue of all teams or from one team's state. */
export interface RequestShown {
  readonly id: string;
  readonly teamId: string;
  readonly kind: string;
  readonly memberId: string;
  readonly content: string;
  readonly taskId?: string | undefined;
  readonly requestedAt: string | Date;
  readonly deadline?: string | Date | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly question?: Asked | undefined;
}

/** The address of a request in the queue of all teams. */
export function queuePath({ teamId, id }: RequestShown): string {
  return `/queue?id=${encodeURIComponent(`${teamId}/${id}`)}`;
}

/** The work that a request asks about, if it asks whether work may land. */
export function workOf({ teamId, taskId, kind, detail }: RequestShown): Reviewed | undefined {
  const commit = detail?.['commit'];
  if ((kind !== 'work' && kind !== 'review') || taskId === undefined || typeof commit !== 'string') return undefined;
  return { teamId, taskId, commit };
}

/** Approves or rejects a request, with the operation for its kind. */
export function answerRequest(
  request: RequestShown,
  approve: boolean,
  {
    feedback,
    comments = [],
    choice,
  }: { readonly feedback: string; readonly comments?: readonly LineComment[]; readonly choice?: string | undefined },
): Promise<unknown> {
  const { teamId, id: requestId, kind } = request;
  const said = feedback.trim() === '' ? {} : { feedback };
  if (kind === 'plan') {
    return approve
      ? call('plan.approve', { teamId, requestId, ...said })
      : call('plan.reject', { teamId, requestId, ...said });
  }
  // The answer is about the commit that was shown.
  const { commit } = workOf(request) ?? {};
  const about = commit === undefined ? {} : { commit };
  const lines = comments.map(({ side, ...comment }) => ({ ...comment, ...(side === 'old' && { side }) }));
  return call('request.answer', {
    teamId,
    requestId,
    approve,
    ...said,
    ...about,
    ...(lines.length > 0 && { comments: lines }),
    ...(choice !== undefined && { choice }),
  });
}

/** Runs the gate again on the current work; if it rejects, that is an error with the reason. */
export function judgeAgain({ teamId, id: requestId }: RequestShown): Promise<unknown> {
  return call('request.judge', { teamId, requestId });
}

/** What may be answered to a question of a member. */
export interface Asked {
  readonly choices: readonly string[];
  readonly freeText: boolean;
  readonly otherwise: string;
  readonly fallback?: string | undefined;
}

interface Kind {
  readonly name: string;
  readonly yes: string;
  readonly no: string;
  readonly phase: 'gate' | 'failed';
  readonly unanswered?: string;
}

/** The name of each kind, the words for yes and no, and what follows if nobody answers in time. */
const KINDS: Readonly<Record<string, Kind>> = {
  plan: { name: 'Plan', yes: 'Approve', no: 'Reject…', phase: 'gate' },
  permission: { name: 'Permission', yes: 'Allow', no: 'Deny…', phase: 'gate' },
  gate: { name: 'Gate gave up', yes: 'Accept', no: 'Send back…', phase: 'failed', unanswered: 'the task fails' },
  budget: { name: 'Budget reached', yes: 'Allow more', no: 'Stop…', phase: 'gate' },
  restart: {
    name: 'Crashed too often',
    yes: 'Start again',
    no: 'Leave stopped…',
    phase: 'failed',
    unanswered: 'it stays stopped',
  },
  hang: {
    name: 'Silent turn',
    yes: 'End and do again',
    no: 'Let it go on…',
    phase: 'failed',
    unanswered: 'it goes on',
  },
  account: {
    name: 'Not logged in',
    yes: 'Use it again',
    no: 'Wait…',
    phase: 'failed',
    unanswered: 'its members wait',
  },
  work: { name: 'Work to approve', yes: 'Let it land', no: 'Send back…', phase: 'gate', unanswered: 'the task fails' },
  review: {
    name: 'Review',
    yes: 'Let it land',
    no: 'Send back…',
    phase: 'gate',
    unanswered: 'you are asked in its place',
  },
  question: {
    name: 'Question',
    yes: 'Answer',
    no: 'Leave it to the member…',
    phase: 'gate',
    unanswered: 'the member goes on',
  },
  shutdown: { name: 'Shutdown', yes: 'Agree', no: 'Refuse…', phase: 'gate' },
};

/** The word for yes. Of a budget: how much it gives. */
export function yesTo(request: { kind: string; detail?: Readonly<Record<string, unknown>> | undefined }): string {
  const { kind, detail } = request;
  const grant = kind === 'budget' ? showGrant(detail) : undefined;
  return grant === undefined ? kindOf(kind).yes : `Allow ${grant}`;
}

/** The word for no. */
export function noTo(request: { kind: string; detail?: Readonly<Record<string, unknown>> | undefined }): string {
  return isTaskBudget(request) ? 'End the task…' : kindOf(request.kind).no;
}

/** Without more, the task ends. */
function isTaskBudget({ kind, detail }: { kind: string; detail?: Readonly<Record<string, unknown>> | undefined }) {
  return kind === 'budget' && detail?.['of'] === 'task';
}

/** What follows if nobody answers in time. */
export function unansweredOf({
  kind,
  question,
  detail,
}: {
  kind: string;
  question?: Asked | undefined;
  detail?: Readonly<Record<string, unknown>> | undefined;
}): string {
  if (isTaskBudget({ kind, detail })) return 'the task fails';
  if (question?.fallback !== undefined) return `“${question.fallback}” counts`;
  if (question?.otherwise === 'fail') return 'the task fails';
  return kindOf(kind).unanswered ?? 'it is a no';
}

export function kindOf(kind: string): Kind {
  return KINDS[kind] ?? { name: kind, yes: 'Approve', no: 'Reject…', phase: 'gate' };
}
