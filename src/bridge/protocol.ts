import { z } from 'zod';

/**
 * What native members tell each other as JSON in the text of a message. Only what the bridge acts on is here; everything else is
 * text.
 */
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
  // What a lead would set in a teammate without being asked for it: the newest version drops both, and so do we.
  z.looseObject({ type: z.literal('mode_set_request') }),
  z.looseObject({ type: z.literal('team_permission_update') }),
]);
export type Protocol = z.output<typeof Protocol>;

/** The protocol message that a text is, if it is one that we know. */
export function readProtocol(text: string): Protocol | undefined {
  const value = objectIn(text);
  return value === undefined ? undefined : Protocol.safeParse(value).data;
}

/** Whether the program would take a text for protocol: any JSON object with a type, known to us or not. */
export function looksLikeProtocol(text: string): boolean {
  const value = objectIn(text);
  return value !== undefined && 'type' in value;
}

/** A text as it may be written into an inbox: one that reads like protocol gets a line before it and is plain text again. */
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
