import { z } from 'zod';

/** JSON messages between native members. Only the ones that the bridge acts on are here; all others are text. */
const Protocol = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('idle_notification'),
    from: z.string().optional(),
    idleReason: z.string().optional(),
    failureReason: z.string().optional(),
    summary: z.string().optional(),
    result: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('task_assignment'),
    taskId: z.string(),
    assignedBy: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('shutdown_request'),
    requestId: z.string(),
    from: z.string().optional(),
    reason: z.string().optional(),
  }),
  z.looseObject({ type: z.literal('shutdown_approved'), requestId: z.string(), from: z.string().optional() }),
  z.looseObject({
    type: z.literal('shutdown_rejected'),
    requestId: z.string(),
    from: z.string().optional(),
    reason: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('plan_approval_request'),
    requestId: z.string(),
    planContent: z.string().optional(),
    planFilePath: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('plan_approval_response'),
    requestId: z.string(),
    approved: z.boolean(),
    feedback: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('permission_request'),
    request_id: z.string(),
    tool_name: z.string(),
    input: z.unknown().optional(),
    description: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('permission_response'),
    request_id: z.string(),
    subtype: z.string().optional(),
    error: z.string().optional(),
    response: z.looseObject({}).optional(),
  }),
  // A lead's settings for a teammate that did not ask: the newest version drops both, and so do we.
  z.looseObject({ type: z.literal('mode_set_request') }),
  z.looseObject({ type: z.literal('team_permission_update') }),
]);
export type Protocol = z.output<typeof Protocol>;

/** Parses a text as a protocol message that we know. */
export function readProtocol(text: string): Protocol | undefined {
  const value = objectIn(text);
  return value === undefined ? undefined : Protocol.safeParse(value).data;
}

/** Whether Claude Code would take a text for protocol: any JSON object with a type, known to us or not. */
export function looksLikeProtocol(text: string): boolean {
  const value = objectIn(text);
  return value !== undefined && 'type' in value;
}

/** A text for an inbox. One that looks like protocol gets a line in front, which makes it plain text. */
export function asPlainText(text: string, from: string): string {
  return looksLikeProtocol(text) ? `Text from ${from}:\n${text}` : text;
}

function objectIn(text: string): object | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
