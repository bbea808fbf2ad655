import { showGrant, wordGate } from '../../src/client/replica.ts';
import type { InputOf, ResultOf } from '../../src/operations/index.ts';
import type { AnswerCall } from '../data/answers.ts';
import { call } from '../data/daemon.ts';
import type { LineComment, Reviewed } from '../data/review-drafts.ts';

/** A request as a card shows it, from the queue of all teams or from one team's state. */
export interface RequestShown {
  readonly id: string;
  readonly teamId: string;
  readonly kind: ResultOf<'request.list'>[number]['kind'];
  readonly memberId: string;
  readonly content: string;
  readonly taskId?: string | undefined;
  readonly requestedAt: string | Date;
  readonly deadline?: string | Date | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly question?: Asked | undefined;
  /** Names what is shown: the answer holds for nothing else. */
  readonly revision?: string | undefined;
  /** Of one that is answered: what was said. */
  readonly status?: string | undefined;
  readonly answeredBy?: string | undefined;
  readonly feedback?: string | undefined;
  readonly choice?: string | undefined;
  readonly grants?: number | undefined;
}

/** What a person answers. */
export interface Said {
  readonly feedback?: string | undefined;
  readonly comments?: readonly LineComment[];
  readonly choice?: string | undefined;
  /** Of a budget: how much more, if it is not what the request offers. */
  readonly grants?: number | undefined;
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

/** The call that approves or rejects a request, with the operation for its kind. */
export function answerCall(
  request: RequestShown,
  approve: boolean,
  { feedback = '', comments = [], choice, grants }: Said,
): AnswerCall {
  const { teamId, id: requestId, kind, revision } = request;
  const named = { teamId, requestId, ...(revision !== undefined && { revision }) };
  const said = feedback.trim() === '' ? {} : { feedback };
  if (kind === 'plan') return { name: approve ? 'plan.approve' : 'plan.reject', input: { ...named, ...said } };
  // The answer is about the commit that was shown.
  const { commit } = workOf(request) ?? {};
  const about = commit === undefined ? {} : { commit };
  const lines = comments.map(({ side, ...comment }) => ({ ...comment, ...(side === 'old' && { side }) }));
  const input: InputOf<'request.answer'> = {
    ...named,
    approve,
    ...said,
    ...about,
    ...(lines.length > 0 && { comments: lines }),
    ...(choice !== undefined && { choice }),
    ...(grants !== undefined && { grants }),
  };
  return { name: 'request.answer', input };
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
  /** What was done with a yes, and with a no. */
  readonly done: readonly [yes: string, no: string];
  readonly phase: 'gate' | 'failed';
  readonly unanswered?: string;
}

const LANDS = ['Lands', 'Sent back'] as const;

/** The name of each kind, the words for yes and no, and what follows if nobody answers in time. */
const KINDS: Readonly<Record<RequestShown['kind'], Kind>> = {
  plan: { name: 'Plan', yes: 'Approve', no: 'Reject…', done: ['Approved', 'Rejected'], phase: 'gate' },
  permission: { name: 'Permission', yes: 'Allow', no: 'Deny…', done: ['Allowed', 'Denied'], phase: 'gate' },
  gate: {
    // Why a person decides: `wordGate`.
    name: 'Gate',
    yes: 'Accept',
    no: 'Send back…',
    done: ['Accepted', 'Sent back'],
    phase: 'failed',
    unanswered: 'the task fails',
  },
  budget: { name: 'Budget reached', yes: 'Go on', no: 'Stop…', done: ['Goes on', 'Stopped'], phase: 'gate' },
  restart: {
    name: 'Crashed too often',
    yes: 'Start again',
    no: 'Leave stopped…',
    done: ['Started again', 'Left stopped'],
    phase: 'failed',
    unanswered: 'it stays stopped',
  },
  hang: {
    name: 'Silent turn',
    yes: 'End and do again',
    no: 'Let it go on…',
    done: ['Ended, to be done again', 'Goes on'],
    phase: 'failed',
    unanswered: 'it goes on',
  },
  account: {
    // It is not logged in, or has reached its limit.
    name: 'Account closed',
    yes: 'Use it again',
    no: 'Wait…',
    done: ['Used again', 'Waits'],
    phase: 'failed',
    unanswered: 'its members wait',
  },
  work: {
    name: 'Work to approve',
    yes: 'Let it land',
    no: 'Send back…',
    done: LANDS,
    phase: 'gate',
    unanswered: 'the task fails',
  },
  review: {
    name: 'Review',
    yes: 'Let it land',
    no: 'Send back…',
    done: LANDS,
    phase: 'gate',
    unanswered: 'you are asked in its place',
  },
  question: {
    name: 'Question',
    yes: 'Answer',
    no: 'Leave it to the member…',
    done: ['Answered', 'Left to the member'],
    phase: 'gate',
    unanswered: 'the member goes on',
  },
  shutdown: { name: 'Shutdown', yes: 'Agree', no: 'Refuse…', done: ['Agreed', 'Refused'], phase: 'gate' },
};

/** The word for yes. Of a budget: how much it gives. */
export function yesTo({ kind, detail }: RequestShown, grants?: number): string {
  const grant = kind === 'budget' ? showGrant(detail, grants) : undefined;
  return grant === undefined ? kindOf({ kind }).yes : `Go on with ${grant}`;
}

/** What an answer says, in words. */
export function wordAnswer({ kind, detail }: RequestShown, approve: boolean, said: Said): string {
  const [yes, other] = kindOf({ kind }).done;
  const no = isTaskBudget({ kind, detail }) ? 'The task ends' : other;
  const grant = kind === 'budget' && approve ? showGrant(detail, said.grants) : undefined;
  const words = `${approve ? yes : no}${grant === undefined ? '' : ` with ${grant}`}`;
  const more = [said.choice, said.feedback?.trim()].filter((text) => text !== undefined && text !== '');
  return more.length > 0 ? `${words}: ${more.join('. ')}` : words;
}

/** What became of a request that is answered, and by whom. */
export function wordOutcome(request: RequestShown): string {
  const { status, answeredBy, feedback, choice, grants } = request;
  if (status === 'withdrawn') return 'No longer needed: its member stopped or asks something newer';
  if (status !== 'approved' && status !== 'rejected') return 'This request is answered';
  const words = wordAnswer(request, status === 'approved', { feedback, choice, grants });
  if (answeredBy === '@system') return `Nobody answered in time. ${words}`;
  return answeredBy === undefined || answeredBy === '@user' ? words : `${answeredBy}: ${words}`;
}

/** The word for no. */
export function noTo(request: Pick<RequestShown, 'kind' | 'detail'>): string {
  return isTaskBudget(request) ? 'End the task…' : kindOf(request).no;
}

/** Without more, the task ends. */
function isTaskBudget({ kind, detail }: Pick<RequestShown, 'kind' | 'detail'>): boolean {
  return kind === 'budget' && detail?.['of'] === 'task';
}

/** What follows if nobody answers in time. */
export function unansweredOf({ kind, question, detail }: Pick<RequestShown, 'kind' | 'question' | 'detail'>): string {
  if (isTaskBudget({ kind, detail })) return 'the task fails';
  if (question?.fallback !== undefined) return `“${question.fallback}” counts`;
  if (question?.otherwise === 'fail') return 'the task fails';
  return kindOf({ kind }).unanswered ?? 'it counts as no';
}

/** What is asked, and the words for it. */
export function kindOf({ kind, detail }: Pick<RequestShown, 'kind' | 'detail'>): Kind {
  const known = KINDS[kind];
  return kind === 'gate' ? { ...known, name: wordGate(detail) } : known;
}
