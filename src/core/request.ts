import { z } from 'zod';
import { Actor } from './actor.ts';
import { GrantAmount } from './budget.ts';
import { durationOf } from './duration.ts';
import { Line, Slug, TaskId, textOf } from './fields.ts';
import { Metadata } from './json.ts';
import { PLAN_BYTES, RESULT_BYTES } from './limits.ts';
import { Choice, Question, QuestionInput } from './question.ts';
import { ReviewComments, ReviewedCommit } from './review.ts';
import { Timestamp } from './time.ts';

/** The status of a request. A withdrawn one needs no answer: its member stopped or sent a newer one. */
export const RequestStatus = z.enum(['pending', 'approved', 'rejected', 'withdrawn']);
export type RequestStatus = z.infer<typeof RequestStatus>;

/**
 * What a member asks a person about itself. `hang`: a turn in which nothing happens any more. Nothing in such a request is a
 * fact: a member writes what it likes into it, and the person who answers may not see all of that.
 */
export const OwnKind = z.enum(['permission', 'question', 'hang']);
export type OwnKind = z.infer<typeof OwnKind>;

/**
 * What members and Troupe ask a person. Only Troupe asks the rest, so that `detail` is a fact there: what an answer completes,
 * approves, grants, starts or frees.
 * `gate`: work that a gate keeps rejecting. `restart`: a member that crashed too often. `account`: a login is missing, or
 * its limit is reached.
 */
export const RaisedKind = z.enum([...OwnKind.options, 'gate', 'budget', 'restart', 'account']);
export type RaisedKind = z.infer<typeof RaisedKind>;

/** All of them. The merge queue asks the others: a person about `work`, the team's reviewer for a `review`. */
export const QuestionKind = z.enum([...RaisedKind.options, 'work', 'review']);
export type QuestionKind = z.infer<typeof QuestionKind>;

/** A question that waits for an answer. */
export const TeamRequest = z.object({
  id: z.string(),
  teamId: Slug,
  kind: z.enum(['shutdown', 'plan', ...QuestionKind.options]),
  /** The member that should shut down or review, whose plan or work it is, or that asks. */
  memberId: Slug,
  requestedBy: Actor,
  requestedAt: Timestamp,
  /** The plan, the reason for the shutdown, or the question. */
  content: z.string(),
  /** The path of the plan, if it is a file. */
  filePath: z.string().optional(),
  /** The task it is about. */
  taskId: TaskId.optional(),
  /** When it counts as rejected. */
  deadline: Timestamp.optional(),
  /** What may be answered to a question of a member, and what follows without an answer. */
  question: Question.optional(),
  /** Additional data from the requester, for programs. */
  detail: Metadata.optional(),
  /** Changes with everything that a person reads before the answer. An answer may name it, and holds only for it. */
  revision: z.string().optional(),
  status: RequestStatus,
  answeredBy: Actor.optional(),
  answeredAt: Timestamp.optional(),
  /** The text of the answer. */
  feedback: z.string().optional(),
  /** The chosen answer to a question. */
  choice: z.string().optional(),
  /** Of a budget: how much more the answer gave, in its own unit. */
  grants: z.number().optional(),
});
export type TeamRequest = z.output<typeof TeamRequest>;

/** Who answers a request: the member it is about, the lead (or a person in its place), or nobody but a person. */
export function answererOf(kind: TeamRequest['kind']): 'member' | 'lead' | 'person' {
  if (kind === 'shutdown' || kind === 'review') return 'member';
  return kind === 'plan' ? 'lead' : 'person';
}

/** Whether this member is the one that answers the request. Nobody judges its own plan. */
export function isAnsweredBy(
  { kind, memberId: about }: Pick<TeamRequest, 'kind' | 'memberId'>,
  { memberId, leadId }: { memberId: string | undefined; leadId: string },
): boolean {
  const answerer = answererOf(kind);
  if (answerer === 'member') return about === memberId;
  return answerer === 'lead' && leadId === memberId && about !== memberId;
}

const RequestId = z.string().min(1).max(300);

const Revision = z.string().max(100).optional().describe('the revision that was shown; the answer holds only for it');

/** Asks a member to stop. */
export const RequestShutdownInput = z.strictObject({
  memberId: Slug.describe('the member'),
  reason: Line.default('').describe('why'),
  within: z
    .number()
    .int()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe('milliseconds in which its agent may refuse; without it, Troupe agrees between two tasks'),
});
export type RequestShutdownInput = z.output<typeof RequestShutdownInput>;

/** Submits a plan. */
export const SubmitPlanInput = z.strictObject({
  content: textOf(PLAN_BYTES).describe('the plan'),
  filePath: z.string().max(4096).optional().describe('the path of the plan, if it is a file'),
});
export type SubmitPlanInput = z.output<typeof SubmitPlanInput>;

/** Approves a request. */
export const ApproveInput = z.strictObject({
  requestId: RequestId.describe('the request'),
  revision: Revision,
  feedback: textOf(RESULT_BYTES).optional().describe('the text of the answer'),
});
export type ApproveInput = z.output<typeof ApproveInput>;

/** Rejects a request, with the reason. */
export const RejectInput = z.strictObject({
  requestId: RequestId.describe('the request'),
  revision: Revision,
  feedback: textOf(RESULT_BYTES).default('').describe('the text of the answer'),
});
export type RejectInput = z.output<typeof RejectInput>;

/** Asks a person. */
export const RaiseRequestInput = z.strictObject({
  kind: RaisedKind.describe('what it is about'),
  memberId: Slug.describe('the member'),
  taskId: TaskId.optional().describe('the task'),
  content: textOf(RESULT_BYTES).describe('what the person is asked'),
  /** Milliseconds until it counts as rejected. */
  within: durationOf(1, 86_400_000).optional(),
  detail: Metadata.optional().describe('your own data for programs'),
  question: QuestionInput.optional().describe('of a question: its choices, and what follows without an answer'),
});
export type RaiseRequestInput = z.output<typeof RaiseRequestInput>;

/** A person's answer. */
export const AnswerRequestInput = z.strictObject({
  requestId: RequestId.describe('the request'),
  revision: Revision,
  approve: z.boolean().describe('yes or no'),
  feedback: textOf(RESULT_BYTES).optional().describe('the text of the answer'),
  commit: ReviewedCommit.optional().describe('of a request about work: the commit that you looked at'),
  comments: ReviewComments.optional().describe('of a request about work: what you say about single lines'),
  choice: Choice.optional().describe('of a question: one of its choices'),
  grants: GrantAmount.optional().describe(
    'of a budget: how much more, in its own unit; without it, what the request says',
  ),
});
export type AnswerRequestInput = z.output<typeof AnswerRequestInput>;

/** A request, and the member that it is about. */
const OfRequest = z.object({ requestId: z.string(), memberId: z.string() });

/** The data of each event about a request. */
export const REQUEST_EVENT_DATA = {
  'shutdown:requested': OfRequest.extend({
    reason: z.string(),
    /** Milliseconds since 1970: until then its agent may refuse, after that it is shut down. */
    deadline: z.number().int().optional(),
  }),
  'shutdown:approved': OfRequest.extend({ feedback: z.string().optional() }),
  'shutdown:rejected': OfRequest.extend({ feedback: z.string() }),
  'plan:submitted': OfRequest.extend({ content: z.string(), filePath: z.string().optional() }),
  'plan:approved': OfRequest.extend({ feedback: z.string().optional() }),
  'plan:rejected': OfRequest.extend({ feedback: z.string() }),
  /** A question to a person: work that a gate keeps rejecting, a permission, an exhausted budget, a member that was given up, a silent turn. */
  'request:raised': OfRequest.extend({
    kind: QuestionKind,
    taskId: z.string().optional(),
    content: z.string(),
    /** Milliseconds since 1970; after that the answer is no. */
    deadline: z.number().int().optional(),
    detail: Metadata.optional(),
    question: Question.optional(),
  }),
  'request:answered': OfRequest.extend({
    approved: z.boolean(),
    feedback: z.string().optional(),
    /** Of a question: the chosen answer; without an answer, its fallback. */
    choice: z.string().optional(),
    /** Of a budget: how much more. */
    grants: z.number().optional(),
    kind: QuestionKind.optional(),
  }),
} as const;
