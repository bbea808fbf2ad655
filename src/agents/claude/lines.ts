import { z } from 'zod';
import { Tokens } from '../tokens.ts';

/** One model's share of the usage. */
const ModelUsage = z.object({
  inputTokens: z.number().default(0),
  outputTokens: z.number().default(0),
  cacheReadInputTokens: z.number().default(0),
  cacheCreationInputTokens: z.number().default(0),
  costUSD: z.number().default(0),
  contextWindow: z.number().optional(),
});
/** The usage of each model. */
export const ModelUsages = z.record(z.string(), ModelUsage);

const Uuids = z.array(z.string());

const Block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    is_error: z.boolean().nullish(),
    content: z.unknown().optional(),
  }),
]);

/** Skips blocks of unknown kinds (thinking, images). */
const Blocks = z
  .union([z.string().transform((text) => [{ type: 'text', text }]), z.array(z.unknown())])
  .transform((blocks) => blocks.flatMap((block) => Block.safeParse(block).data ?? []));

/** The end of a turn, or of one part of it. */
const Result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean().default(false),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  terminal_reason: z.string().nullish(),
  /** The HTTP status with which the model refused, and in newer versions what that means. */
  api_error_status: z.number().nullish(),
  api_error: z.string().nullish(),
  stop_reason: z.string().nullish(),
  /** The texts that it answers; missing in a turn that the agent began by itself, and in old versions. */
  user_message_uuids: Uuids.optional(),
  origin: z.object({ kind: z.string() }).optional(),
  /** These two grow from result to result. */
  total_cost_usd: z.number().default(0),
  modelUsage: ModelUsages.optional(),
  /** These two are of this result alone; `usage` only of the main conversation. */
  model_usage_since_last_result: ModelUsages.optional(),
  usage: Tokens.optional(),
});
export type Result = z.output<typeof Result>;

/** The agent asks us something. */
const ControlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});
export type ControlRequest = z.output<typeof ControlRequest>;

/** It asks whether it may use a tool. */
export const CanUseTool = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  title: z.string().optional(),
  description: z.string().optional(),
  decision_reason: z.string().optional(),
});

/** A line of Claude Code's output, as far as it concerns us. */
export const Said = z.discriminatedUnion('type', [
  Result,
  ControlRequest,
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.object({
    type: z.literal('control_response'),
    response: z.object({
      subtype: z.string(),
      request_id: z.string(),
      response: z.unknown().optional(),
      error: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal('assistant'),
    message: z.object({
      model: z.string(),
      content: Blocks,
      usage: Tokens.optional(),
      stop_reason: z.string().nullish(),
    }),
    parent_tool_use_id: z.string().nullish(),
    /** Of a message that Claude Code itself wrote: the kind of error. */
    error: z.string().nullish(),
  }),
  z.object({
    type: z.literal('user'),
    message: z.object({ content: Blocks }),
    parent_tool_use_id: z.string().nullish(),
    uuid: z.string().optional(),
    isReplay: z.boolean().optional(),
  }),
  /** A piece of an answer as it comes; all but pieces of text are only signs of life. */
  z.object({
    type: z.literal('stream_event'),
    event: z.object({
      type: z.string(),
      delta: z.object({ type: z.string(), text: z.string() }).optional().catch(undefined),
    }),
    parent_tool_use_id: z.string().nullish(),
  }),
  z.object({ type: z.literal('command_lifecycle'), command_uuid: z.string(), state: z.string() }),
  z.object({
    type: z.literal('rate_limit_event'),
    rate_limit_info: z.object({
      status: z.string(),
      /** Seconds since 1970. */
      resetsAt: z.number().nullish(),
      rateLimitType: z.string().nullish(),
      utilization: z.number().nullish(),
      unifiedWindows: z
        .record(z.string(), z.object({ utilization: z.number().nullish(), resetsAt: z.number().nullish() }).nullish())
        .nullish(),
    }),
  }),
  z.object({
    type: z.literal('system'),
    subtype: z.string(),
    /** Of `api_retry`. */
    retry_delay_ms: z.number().optional(),
    error_status: z.number().nullish(),
    error: z.string().optional(),
  }),
]);
export type Said = z.output<typeof Said>;

/** What Claude Code says about the limits of its account. */
export type RateLimit = Extract<Said, { type: 'rate_limit_event' }>['rate_limit_info'];

/** Parses a line; undefined for an unknown kind. */
export function parseLine(line: string): Said | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return Said.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
