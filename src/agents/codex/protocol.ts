import { z } from 'zod';

// Only the fields of the app-server's messages that we read; everything else may change.

/** Something that Codex did or said in a turn. */
export const Item = z.looseObject({
  type: z.string(),
  id: z.string(),
  /** Of a user message: the id that we gave it. */
  clientId: z.string().nullish(),
  text: z.string().optional(),
  status: z.string().optional(),
  command: z.string().optional(),
  aggregatedOutput: z.string().nullish(),
  /** Of a change of files: for each its difference, or its whole content if it is new. */
  changes: z.array(z.looseObject({ path: z.string() })).optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).nullish(),
  query: z.string().optional(),
});
export type Item = z.output<typeof Item>;

const Tokens = z.looseObject({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number().default(0),
  cacheWriteInputTokens: z.number().default(0),
  outputTokens: z.number(),
});
export type Tokens = z.output<typeof Tokens>;

/** A window of the account's limits; all its fields may be null, which says nothing. */
const Window = z.looseObject({ usedPercent: z.number().nullish(), resetsAt: z.number().nullish() }).nullish();
const RateLimits = z.looseObject({ primary: Window, secondary: Window, rateLimitReachedType: z.string().nullish() });
export type RateLimits = z.output<typeof RateLimits>;

const TurnError = z.looseObject({ message: z.string(), codexErrorInfo: z.unknown().optional() });

/** The news that we follow, by method. */
export const News = {
  'item/started': z.looseObject({ threadId: z.string(), item: Item }),
  'item/completed': z.looseObject({ threadId: z.string(), item: Item }),
  'item/agentMessage/delta': z.looseObject({ threadId: z.string(), delta: z.string() }),
  'item/reasoning/summaryTextDelta': z.looseObject({ threadId: z.string() }),
  'item/reasoning/textDelta': z.looseObject({ threadId: z.string() }),
  'thread/tokenUsage/updated': z.looseObject({
    threadId: z.string(),
    tokenUsage: z.looseObject({ total: Tokens, last: Tokens, modelContextWindow: z.number().nullish() }),
  }),
  'turn/completed': z.looseObject({
    threadId: z.string(),
    turn: z.looseObject({ id: z.string(), status: z.string(), error: TurnError.nullish() }),
  }),
  error: z.looseObject({ threadId: z.string(), error: TurnError, willRetry: z.boolean().default(false) }),
  'account/rateLimits/updated': z.looseObject({ rateLimits: RateLimits }),
  'mcpServer/startupStatus/updated': z.looseObject({
    name: z.string(),
    status: z.string(),
    error: z.string().nullish(),
  }),
} as const;
export type NewsOf<M extends keyof typeof News> = z.output<(typeof News)[M]>;

/** The answers that we read. */
export const Started = z.looseObject({ thread: z.looseObject({ id: z.string() }), model: z.string().optional() });
export const TurnStarted = z.looseObject({ turn: z.looseObject({ id: z.string() }) });
export const Config = z.looseObject({
  config: z.looseObject({ mcp_servers: z.record(z.string(), z.unknown()).nullish() }),
});

/** A question that it wants answered before it acts. */
export const Approval = z.looseObject({
  itemId: z.string().optional(),
  reason: z.string().nullish(),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  grantRoot: z.string().nullish(),
  permissions: z.unknown().optional(),
});

/** A question of an MCP server; approvals of its tool calls have this form too. */
export const Elicitation = z.looseObject({
  serverName: z.string(),
  message: z.string().default(''),
  _meta: z
    .looseObject({
      codex_approval_kind: z.string().optional(),
      tool_name: z.string().optional(),
      tool_params: z.unknown().optional(),
    })
    .nullish(),
});
