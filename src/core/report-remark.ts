import { z } from 'zod';
import { TeamRequest } from './request.ts';

/** How much of a text the report repeats, in characters; the team has the rest. */
export const TEXT_LENGTH = 500;

/** Something that went wrong, or still waits: about a task, a member or a request. */
export const Remark = z.object({
  what: z.enum([
    'failed',
    'sent back',
    'crashed',
    'stopped',
    'interrupted',
    'limited',
    'unanswered',
    'answered',
    'request',
    'blocked',
    'open',
  ]),
  taskId: z.string().optional(),
  memberId: z.string().optional(),
  /** The kind of the request. */
  kind: TeamRequest.shape.kind.optional(),
  requestId: z.string().optional(),
  text: z.string(),
});
export type Remark = z.output<typeof Remark>;
