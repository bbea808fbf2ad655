import { z } from 'zod';
import { TeamError } from './errors.ts';
import { Line, Slug } from './fields.ts';
import { InnerTeam } from './inner.ts';
import { Sandbox } from './sandbox.ts';
import { SilenceLimits } from './silence.ts';

/** How a member's agent runs. A `function` runs in the process that registered it. */
export const AgentKind = z.enum(['exec', 'function', 'claude', 'codex', 'acp', 'claude-native', 'team']);
export type AgentKind = z.infer<typeof AgentKind>;

/** What rules need to know about a kind. */
interface KindRow {
  /** A daemon runs it, as a separate process. */
  readonly hasProcess: boolean;
  /** A user wrote it for one member, and any machine may have it. */
  readonly isOwn: boolean;
  /** People ask for it by the name of its kind. */
  readonly isNamed: boolean;
  /** Its turns are charged to an account. A program has none that we know of, and of a team its members have theirs. */
  readonly hasAccount: boolean;
  /** It is a teammate of a native team, which we lead. */
  readonly isNative?: true;
  /** It is a team. */
  readonly isTeam?: true;
}

/** How the kinds differ, for rules. Everything else is in `agents/catalog.ts`. */
const KINDS: Readonly<Record<AgentKind, KindRow>> = {
  exec: { hasProcess: true, isOwn: true, isNamed: false, hasAccount: false },
  function: { hasProcess: false, isOwn: true, isNamed: false, hasAccount: true },
  claude: { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true },
  codex: { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true },
  acp: { hasProcess: true, isOwn: false, isNamed: false, hasAccount: true },
  'claude-native': { hasProcess: true, isOwn: false, isNamed: true, hasAccount: true, isNative: true },
  team: { hasProcess: true, isOwn: true, isNamed: false, hasAccount: false, isTeam: true },
};

/** Whether a daemon runs this agent. */
export function hasProcess({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].hasProcess;
}

/** Whether it is the user's own program or function. */
export function isOwnAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isOwn;
}

/** Whether its turns are charged to an account. */
export function hasAccount({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].hasAccount;
}

/** Whether it is a teammate of a native team, which we lead. */
export function isNativeAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isNative === true;
}

/** Whether it is a team of its own. */
export function isTeamAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isTeam === true;
}

/** Refuses a team without the texts of its files: only `troupe up` reads those. */
export function requireTeamFile(agent: Pick<AgentSpec, 'kind' | 'team'> | undefined): void {
  if (!agent || !isTeamAgent(agent) || agent.team) return;
  throw new TeamError(
    'invalid',
    'Only a team file can make a member a team: add agent: { team: ./review/troupe.yaml } there, and run troupe up',
  );
}

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

/**
 * What runs a member, in any form that people write: the name of an agent, a program or an ACP agent as in a team file
 * (`{ exec: … }`, `{ acp: … }`), or a full spec.
 */
export const AgentInput = z.preprocess(readAgent, AgentSpec);

function readAgent(given: unknown): unknown {
  if (typeof given === 'string') return agentNamed(given);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { exec, acp, ...rest } = given as Readonly<Record<string, unknown>>;
  // As in a team file. Without the texts of its files it is refused, with words that say what to do.
  if (typeof rest['team'] === 'string') return { kind: 'team' };
  const kind = exec === undefined ? (acp === undefined ? undefined : 'acp') : 'exec';
  const command = exec ?? acp ?? rest['command'];
  return {
    ...rest,
    ...(kind && { kind }),
    ...(command !== undefined && { command: typeof command === 'string' ? argvOf(command) : command }),
  };
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The value of an agent's variable, with each `${NAME}` replaced by `lookUp`; unknown names become empty. */
export function fillIn(value: string, lookUp: (name: string) => string | undefined): string {
  return value.replace(VARIABLE, (_match, name: string) => lookUp(name) ?? '');
}

/** The names that an agent's variables take from the environment of its daemon. */
export function namesTaken({ env = {}, mcp = {} }: Pick<AgentSpec, 'env' | 'mcp'>): string[] {
  const values = [env, ...Object.values(mcp).map(secretsOf)].flatMap((given) => Object.values(given));
  return values.flatMap((value) => (value.match(VARIABLE) ?? []).map((found) => found.slice(2, -1)));
}

/** What a server gets that may be secret: the variables of a program, the headers for an address. */
export function secretsOf(server: McpServer): Readonly<Record<string, string>> {
  return ('url' in server ? server.headers : server.env) ?? {};
}

/** A list is a program and its arguments; a text is a shell command, run as it is. */
export function argvOf(command: string | readonly string[]): string[] {
  return typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
}

/** The text of a shell command; undefined for a program with arguments. */
export function shellTextOf(command: readonly string[]): string | undefined {
  const [shell, flag, text] = command;
  return shell === '/bin/sh' && flag === '-c' ? text : undefined;
}

/** The agents that a team's lead may start, by the name that it uses for them. */
export const AgentChoice = z.record(Slug, AgentSpec);
export type AgentChoice = z.output<typeof AgentChoice>;

/** An agent by its name: one with its own adapter, else an ACP agent. `claude@second` also names its login. */
export function agentNamed(text: string): AgentSpec {
  const [name = '', account] = text.split('@', 2);
  const own = AgentKind.options.find((kind) => kind === name && KINDS[kind].isNamed);
  const spec: AgentSpec = own ? { kind: own } : { kind: 'acp', name };
  return account === undefined ? spec : { ...spec, account };
}

/** An agent's name in the catalog: `claude` for Claude Code, the own name of an ACP agent. */
export function catalogNameOf({ kind, name }: Pick<AgentSpec, 'kind' | 'name'>): string {
  return kind === 'acp' ? (name ?? kind) : kind;
}
