import { z } from 'zod';
import { Actor } from './actor.ts';
import { ChosenId, Line, Slug, textOf } from './fields.ts';
import { Metadata } from './json.ts';
import { ID_LENGTH, MESSAGE_BYTES, MESSAGES_PER_STEP, NAME_LENGTH } from './limits.ts';
import { PeerAddress, Recipient } from './peers.ts';
import { Timestamp } from './time.ts';

/** Urgent messages reach a running turn; others wait for its end. */
export const MessagePriority = z.enum(['normal', 'urgent']);
export type MessagePriority = z.infer<typeof MessagePriority>;

/** The kind of a message. All but the first two come only from Troupe itself. */
export const MessageType = z.enum(['direct', 'broadcast', 'system', 'plan_approval', 'task_update']);
export type MessageType = z.infer<typeof MessageType>;

/** A message in one recipient's inbox. A broadcast is one message per recipient, which share `broadcastId`. */
export const TeamMessage = z.object({
  id: z.string(),
  teamId: Slug,
  /** From the sender's credential; `member@team` if it is of another team. */
  fromId: z.union([Actor, PeerAddress]),
  toId: Slug,
  type: MessageType,
  content: z.string(),
  summary: Line.optional(),
  priority: MessagePriority,
  /** Its position among all messages of the team; mail is shown in this order. */
  order: z.number().int(),
  sentAt: Timestamp,
  /** When it was handed to a session. */
  deliveredAt: Timestamp.optional(),
  /** The session it was handed to. */
  sessionId: z.string().optional(),
  /** Sessions that got it before. */
  formerSessions: z.array(z.string()).optional(),
  /** When that session's own record showed that the agent has the message. */
  acknowledgedAt: Timestamp.optional(),
  readAt: Timestamp.optional(),
  /** How often it was delivered again because a crash left open whether it was shown. */
  redeliveries: z.number().int(),
  broadcastId: z.string().optional(),
  metadata: Metadata.optional(),
});
export type TeamMessage = z.output<typeof TeamMessage>;

/** The input that sends a message. It names no sender: that is the caller. */
export const SendMessageInput = z.strictObject({
  toId: Recipient.describe('the member it goes to; lead@beta is the lead of another team'),
  content: textOf(MESSAGE_BYTES)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .describe('the text'),
  summary: Line.optional().describe('what it is about, in one line'),
  type: MessageType.exclude(['broadcast']).default('direct'),
  priority: MessagePriority.default('normal').describe('urgent reaches a running turn instead of waiting for its end'),
  metadata: Metadata.optional().describe('your own data'),
});
export type SendMessageInput = z.output<typeof SendMessageInput>;

/** The input that sends a message to all other members. */
export const BroadcastInput = SendMessageInput.omit({ toId: true, type: true });
export type BroadcastInput = z.output<typeof BroadcastInput>;

const MessageIds = z
  .array(z.string().max(ID_LENGTH + 1 + NAME_LENGTH))
  .min(1)
  .max(MESSAGES_PER_STEP);

/**
 * Hands messages to a session. A message that was delivered but never acknowledged is delivered again only to another
 * session, or with `redelivery`. Then it is marked as a redelivery.
 */
export const DeliverInput = z.strictObject({
  memberId: Slug.describe('the member'),
  messageIds: MessageIds.describe('the messages'),
  sessionId: ChosenId.describe("the session of the member's agent"),
  redelivery: z.boolean().default(false).describe('show messages again that may have been shown before a crash'),
});
export type DeliverInput = z.output<typeof DeliverInput>;

/** Records that the agent has these messages (acknowledge) or that they were read (read). */
export const ReceiptInput = z.strictObject({
  memberId: Slug.describe('the member'),
  messageIds: MessageIds.describe('the messages'),
});
export type ReceiptInput = z.output<typeof ReceiptInput>;

/** The data of each event about messages. */
export const MESSAGE_EVENT_DATA = {
  /** One text to one or more inboxes. */
  'message:sent': z.object({
    copies: z.array(z.object({ id: z.string(), toId: z.string() })),
    messageType: MessageType,
    content: z.string(),
    summary: z.string().optional(),
    priority: MessagePriority,
    broadcastId: z.string().optional(),
    metadata: Metadata.optional(),
  }),
  'message:delivered': z.object({
    memberId: z.string(),
    messageIds: z.array(z.string()),
    sessionId: z.string(),
    redelivery: z.boolean().optional(),
  }),
  'message:acknowledged': z.object({ memberId: z.string(), messageIds: z.array(z.string()) }),
  'message:read': z.object({ memberId: z.string(), messageIds: z.array(z.string()) }),
} as const;
