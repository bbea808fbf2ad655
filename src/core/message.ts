import { z } from 'zod';
import { Actor } from './actor.ts';
import { Metadata } from './json.ts';
import { ID_LENGTH, MESSAGE_BYTES, MESSAGES_PER_STEP, NAME_LENGTH } from './limits.ts';
import { ChosenId, Line, Slug, textOf } from './text.ts';
import { Timestamp } from './time.ts';

/** Urgent messages steer a running turn; the others wait for its end. */
export const MessagePriority = z.enum(['normal', 'urgent']);
export type MessagePriority = z.infer<typeof MessagePriority>;

/** What kind of message it is. All but the first two come only from Troupe itself. */
export const MessageType = z.enum(['direct', 'broadcast', 'system', 'plan_approval', 'task_update']);
export type MessageType = z.infer<typeof MessageType>;

/** A message in one recipient's inbox. A broadcast is one message per recipient, which share `broadcastId`. */
export const TeamMessage = z.object({
  id: z.string(),
  teamId: Slug,
  /** Taken from the sender's credential. */
  fromId: Actor,
  toId: Slug,
  type: MessageType,
  content: z.string(),
  summary: Line.optional(),
  priority: MessagePriority,
  /** Its place among all messages of the team; mail is shown in this order. */
  order: z.number().int(),
  sentAt: Timestamp,
  /** When it was handed to a session for showing. */
  deliveredAt: Timestamp.optional(),
  /** The session it was handed to. */
  sessionId: z.string().optional(),
  /** Those it was handed to before. */
  formerSessions: z.array(z.string()).optional(),
  /** When that session's own record showed that the agent has it. */
  acknowledgedAt: Timestamp.optional(),
  readAt: Timestamp.optional(),
  /** How often it was handed over again because a crash left open whether it was shown. */
  redeliveries: z.number().int(),
  broadcastId: z.string().optional(),
  metadata: Metadata.optional(),
});
export type TeamMessage = z.output<typeof TeamMessage>;

/** What one says to send a message. There is no sender in it: that is the caller. */
export const SendMessageInput = z.strictObject({
  toId: Slug.describe('the member it goes to'),
  content: textOf(MESSAGE_BYTES)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .describe('the text'),
  summary: Line.optional().describe('what it is about, in one line'),
  type: MessageType.exclude(['broadcast']).default('direct'),
  priority: MessagePriority.default('normal').describe('urgent reaches a running turn instead of waiting for its end'),
  metadata: Metadata.optional().describe('free data'),
});
export type SendMessageInput = z.output<typeof SendMessageInput>;

/** What one says to send a message to everybody else. */
export const BroadcastInput = SendMessageInput.omit({ toId: true, type: true });
export type BroadcastInput = z.output<typeof BroadcastInput>;

const MessageIds = z
  .array(z.string().max(ID_LENGTH + 1 + NAME_LENGTH))
  .min(1)
  .max(MESSAGES_PER_STEP);

/**
 * Hands messages to a session for showing. One that was handed over before and never acknowledged is handed over again
 * only to another session, or with `redelivery`, and then marked as such.
 */
export const DeliverInput = z.strictObject({
  memberId: Slug.describe('the member'),
  messageIds: MessageIds.describe('the messages'),
  sessionId: ChosenId.describe("the session of the member's agent"),
  redelivery: z.boolean().default(false).describe('show again what may have been shown before a crash'),
});
export type DeliverInput = z.output<typeof DeliverInput>;

/** Records that the agent has these messages (acknowledge) or that they were read (read). */
export const ReceiptInput = z.strictObject({
  memberId: Slug.describe('the member'),
  messageIds: MessageIds.describe('the messages'),
});
export type ReceiptInput = z.output<typeof ReceiptInput>;
