import { z } from 'zod';
import { Line, Slug } from './fields.ts';
import { InnerTeam } from './inner.ts';
import { Sandbox } from './sandbox.ts';
import { SilenceLimits } from './silence.ts';

/** How a member's agent runs. A `function` runs in the process that registered it. */
export const AgentKind = z.enum(['exec', 'function', 'claude', 'codex', 'acp', 'claude-native', 'team']);
export type AgentKind = z.infer<typeof AgentKind>;

/** What a person allows or forbids in advance: a tool by name, or `Tool(beginning of its input*)`. */
const PermissionRule = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[^()]+(\(.*\))?$/s, 'is not a rule such as "Bash(npm test*)" or "WebFetch"');

const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const Value = z.string().max(32_768);

/** What is said about servers that are not a map. */
export const NO_SERVERS =
  'must be a map of servers by name, such as { docs: { command: [docs-server] } } or { docs: { url: https://mcp.example.com } }';

export const NO_URL = 'is not an address such as https://mcp.example.com';

/** A server of tools over MCP that a member has beside its team's: a program, or an address. */
export const McpServer = z.union([
  z.strictObject({
    command: z.array(z.string().min(1).max(4096)).min(1).max(64),
    env: z.record(VariableName, Value).optional(),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/, error: NO_URL }).max(2048),
    headers: z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), Value.regex(/^[^\r\n]*$/)).optional(),
  }),
]);
export type McpServer = z.output<typeof McpServer>;

/** The name under which every agent has the tools of its team. */
const TEAM_SERVER = 'troupe';

/** The name of another server of tools. */
export const ServerName = Slug.refine(
  (name) => name !== TEAM_SERVER,
  `is the server of the team itself: choose another name than ${TEAM_SERVER}`,
);

/** A tool as its agent calls it. */
const ToolName = z.string().regex(/^[\w.-]{1,200}$/, 'is not the name of a tool, such as "WebFetch"');

/** What a person may set for an agent beside its program. Not every agent takes each: its row in the catalog says so. */
export const AgentExtras = z.strictObject({
  effort: z
    .string()
    .regex(/^[a-z]{1,20}$/)
    .optional()
    .describe('how long its model thinks, in the words of its agent: low, medium, high …'),
  mcp: z
    .record(ServerName, McpServer, NO_SERVERS)
    .optional()
    .describe('servers of tools (MCP) that only it has, by name'),
  skills: z
    .array(
      z
        .string()
        .min(1)
        .max(1024)
        .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), 'must be below the folder'),
    )
    .max(16)
    .optional()
    .describe(
      'files of the project that it reads before it begins, such as docs/style.md; a folder means its SKILL.md',
    ),
  tools: z
    .strictObject({
      allow: z.array(ToolName).max(200).optional().describe('it has only these of its own tools'),
      deny: z.array(ToolName).max(200).optional().describe('it has none of these'),
    })
    .optional()
    .describe('which of its own tools it has'),
});
export type AgentExtras = z.output<typeof AgentExtras>;

/**
 * What runs a member. Programs, arguments and environment come from a person (the command line, a team file), never
 * from an agent. A value `${NAME}` in `env` comes from the environment of the machine that starts it, so that secrets
 * are only named here, not stored.
 */
export const AgentSpec = z.strictObject({
  kind: AgentKind,
  /** For `exec` the program and its arguments; for others a binary to use instead of the one on the PATH. */
  command: z.array(z.string().min(1).max(4096)).min(1).max(64).optional(),
  /** Added to the adapter's own arguments. */
  args: z.array(z.string().max(4096)).max(64).optional(),
  env: z.record(VariableName, Value).optional(),
  /** Which ACP agent. */
  name: Slug.optional(),
  /** Of `team`: the team. Only a team file names one, and the daemon reads it. */
  team: InnerTeam.optional(),
  /** `exec`: also start the program when there is only mail; otherwise mail waits for its next task. */
  messages: z.boolean().optional(),
  /** What the agent may do without asking. */
  mode: z.enum(['plan', 'edit', 'full']).optional(),
  model: Line.optional(),
  /** The name of its login. Members with the same agent and name share an account, on every machine. */
  account: Slug.optional(),
  /** Answers permission requests without a person. Requests that match no rule go to a person. Deny wins. */
  permissions: z
    .strictObject({
      allow: z.array(PermissionRule).max(200).optional(),
      deny: z.array(PermissionRule).max(200).optional(),
    })
    .optional(),
  /** How long nothing may be heard of a turn before something is done about it. */
  silence: z.union([z.literal('off'), SilenceLimits]).optional(),
  /** Runs all its processes apart from the rest of the machine. */
  sandbox: Sandbox.optional(),
  ...AgentExtras.shape,
});
export type AgentSpec = z.output<typeof AgentSpec>;

/** The agents that a team's lead may start, by the name that it uses for them. */
export const AgentChoice = z.record(Slug, AgentSpec);
export type AgentChoice = z.output<typeof AgentChoice>;
