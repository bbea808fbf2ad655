import { z } from 'zod';
import { Actor } from './actor.ts';
import { PLAN_BYTES, RESULT_BYTES } from './limits.ts';
import { Line, Slug, textOf } from './text.ts';
import { Timestamp } from './time.ts';

/** How a request stands. A withdrawn one no longer waits: its member stopped or sent a newer one. */
export const RequestStatus = z.enum(['pending', 'approved', 'rejected', 'withdrawn']);
export type RequestStatus = z.infer<typeof RequestStatus>;

/** Something that waits for an answer: a member asked to shut down, or a plan that wants approval. */
export const TeamRequest = z.object({
  id: z.string(),
  teamId: Slug,
  kind: z.enum(['shutdown', 'plan']),
  /** Who is to shut down, or whose plan it is. */
  memberId: Slug,
  requestedBy: Actor,
  requestedAt: Timestamp,
  /** The plan, or the reason for the shutdown. */
  content: z.string(),
  /** Where the plan lies, when it is a file. */
  filePath: z.string().optional(),
  status: RequestStatus,
  answeredBy: Actor.optional(),
  answeredAt: Timestamp.optional(),
  /** What the answer said. */
  feedback: z.string().optional(),
});
export type TeamRequest = z.output<typeof TeamRequest>;

const RequestId = z.string().min(1).max(300);

/** Asks a member to stop. */
export const RequestShutdownInput = z.strictObject({ memberId: Slug, reason: Line.default('') });
export type RequestShutdownInput = z.output<typeof RequestShutdownInput>;

/** Hands in a plan. */
export const SubmitPlanInput = z.strictObject({
  content: textOf(PLAN_BYTES),
  filePath: z.string().max(4096).optional(),
});
export type SubmitPlanInput = z.output<typeof SubmitPlanInput>;

/** Says yes to a request. */
export const ApproveInput = z.strictObject({ requestId: RequestId, feedback: textOf(RESULT_BYTES).optional() });
export type ApproveInput = z.output<typeof ApproveInput>;

/** Says no to a request, and why. */
export const RejectInput = z.strictObject({ requestId: RequestId, feedback: textOf(RESULT_BYTES).default('') });
export type RejectInput = z.output<typeof RejectInput>;
