import type { Abilities, Mode, StartOptions } from '../agent.ts';
import { CLAUDE_LOGIN, CODEX_LOGIN, GEMINI_LOGIN, OPENCODE_LOGIN } from '../logins.ts';
import type { AgentRow } from '../row.ts';
import { geminiTrust } from './gemini-trust.ts';
import { openCodeServer } from './opencode-server.ts';
import type { Aside } from './opencode-server.ts';
import { geminiTrouble, openCodeTrouble } from './troubles.ts';
import type { Explained, Refusal } from './troubles.ts';

/**
 * How agents that speak ACP differ. The protocol leaves open how a text reaches a running turn, what a failure looks
 * like and who counts tokens. This table holds measured or documented behaviour; nothing is tried out on a user's work.
 */
export interface AcpAgent extends AgentRow {
  readonly kind: 'acp';
  /** The arguments that make it speak ACP. */
  readonly args: readonly string[];
  /** The arguments that choose a model. */
  readonly modelArgs?: (model: string) => readonly string[];
  /** Variables set for every session; they override the user's own. */
  readonly set?: Readonly<Record<string, string>>;
  /** Further variables that depend on where a session works. */
  readonly setThere?: (start: Pick<StartOptions, 'copyOf' | 'env'>) => Readonly<Record<string, string>>;
  /** The variable that takes settings as JSON, and our settings for a session; the user's own in it are kept. */
  readonly settings?: {
    readonly variable: string;
    readonly value: (session: {
      mode: Mode;
      model: string | undefined;
      servers: readonly string[];
      ownTools: StartOptions['ownTools'];
    }) => object;
  };
  /** How a text reaches a running turn: a protocol extension, or a second prompt that the agent folds in. */
  readonly steering: 'method' | 'second prompt' | 'none';
  /** How a failed turn shows: the prompt is refused, or it ends normally without a token count. */
  readonly failure: 'refused' | 'no usage';
  /** What a refusal says about the account, if the agent has its own way to say it. */
  readonly troubleIn?: (refusal: Refusal) => Explained | undefined;
  /** Where the tokens of a turn are reported: in the answer to the prompt, or in Google's metadata beside it. */
  readonly usage: 'answer' | 'last call' | 'quota' | 'none';
  /** How the agent gets its role: in its system text, or before its first prompt. */
  readonly role: 'system text' | 'first prompt';
  /** The agent's mode for each of ours; without one it keeps its own default. */
  readonly modes: Partial<Readonly<Record<Mode, string>>>;
  /** Extra fields for a new session, in the agent's own format. */
  readonly meta?: (tools: string | undefined) => Readonly<Record<string, unknown>>;
  /** Recognizes a call of the team's own tools by something that a model cannot choose. */
  readonly isTeamTool: (asked: AskedTool, tools: string) => boolean;
  /** Another way to ask it what it does not say over ACP, made for each session. */
  readonly aside?: (start: Pick<StartOptions, 'env' | 'sandbox'>) => Promise<Aside>;
  /** Even in the mode `full` it asks, as its own settings say: then it is allowed. What they deny stays denied. */
  readonly asksInFull?: boolean;
  /** How long it may take to end once its input is closed. */
  readonly leaveMs: number;
  /**
   * Loading a session in the minute in which it began overwrites its history, because files are named by the minute.
   */
  readonly losesFreshHistory?: boolean;
}

/** What an agent says about a call that it asks permission for. */
export interface AskedTool {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly optionIds: readonly string[];
  /** From an update about the call, if one came before the question. */
  readonly rawInput?: unknown;
}

const ABLE: Abilities = { steer: false, interrupt: true, resume: true, mail: true, usage: true, permissions: true };

const never = (): boolean => false;

/** The defaults for an agent about which nothing more is known: only what the protocol itself promises. */
const PLAIN = {
  kind: 'acp',
  args: ['--acp'],
  env: [],
  steering: 'none',
  failure: 'refused',
  usage: 'answer',
  role: 'first prompt',
  modes: {},
  isTeamTool: never,
  leaveMs: 2_000,
  abilities: { ...ABLE, resume: false, usage: false },
  cost: 'none',
  holds: { plan: 'refused', delegate: 'refused' },
  known: 'documented',
  takes: {
    effort: { not: 'the protocol has no setting for it; choose a model, or say it in args or env' },
    mcp: true,
    skills: true,
    tools: { not: 'the protocol has no list of tools; use mode or permissions' },
  },
} as const satisfies Partial<AcpAgent>;

/** Any command that a user names. */
export const UNKNOWN_ACP: AcpAgent = {
  ...PLAIN,
  title: 'any other that speaks ACP',
  program: '',
  args: [],
  install: 'name its command: agent: { acp: "my-agent --acp" }',
};

/** The agents that we know, by their names in a team file. */
export const ACP_AGENTS = {
  gemini: {
    obeys: ['.gemini/settings.json', '.gemini/.env'],
    ...PLAIN,
    title: 'Gemini CLI',
    program: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    env: ['GEMINI_*', 'GOOGLE_*'],
    login: GEMINI_LOGIN,
    // Without it, a second process is started, which survives if the first is killed.
    set: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    setThere: geminiTrust,
    modelArgs: (model) => ['--model', model],
    // A second prompt would cancel the running turn.
    steering: 'none',
    usage: 'quota',
    troubleIn: geminiTrouble,
    // In its plan mode it also has only those team tools that change nothing.
    modes: { plan: 'plan', delegate: 'default', edit: 'autoEdit', full: 'yolo' },
    // Only calls of MCP tools offer to allow the whole server; only the end of the title names it.
    isTeamTool: ({ title, optionIds }, tools) =>
      optionIds.includes('proceed_always_server') && /^[\w-]+ \(([\w-]+) MCP Server\)$/.exec(title)?.[1] === tools,
    leaveMs: 1_000,
    takes: {
      ...PLAIN.takes,
      effort: { not: 'Gemini CLI sets it by model: choose a model' },
      tools: { not: 'name a policy file of Gemini CLI instead, as args: [--policy, no-web.toml]' },
    },
    losesFreshHistory: true,
    abilities: ABLE,
    holds: { plan: 'enforced', delegate: 'refused' },
    cost: 'tokens',
    known: 'measured',
  },
  opencode: {
    obeys: ['opencode.json', 'opencode.jsonc'],
    ...PLAIN,
    title: 'OpenCode',
    program: 'opencode',
    args: ['acp'],
    install: 'npm install -g opencode-ai',
    env: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY', 'GOOGLE_*'],
    set: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    login: OPENCODE_LOGIN,
    settings: {
      variable: 'OPENCODE_CONFIG_CONTENT',
      value: ({ mode, model, ...given }) => ({
        autoupdate: false,
        ...(model !== undefined && { model }),
        ...openCodePermissions(mode, given),
      }),
    },
    steering: 'second prompt',
    aside: openCodeServer,
    // About files outside of its folder, for example.
    asksInFull: true,
    // It has retried five times by then, and passes on only the provider's sentence.
    troubleIn: openCodeTrouble,
    usage: 'last call',
    takes: { ...PLAIN.takes, tools: true },
    // It never asks about tools of MCP servers.
    isTeamTool: never,
    abilities: { ...ABLE, steer: true },
    holds: { plan: 'enforced', delegate: 'enforced' },
    cost: 'reported',
    known: 'measured',
  },
  'codex-acp': {
    ...PLAIN,
    title: 'Codex through ACP',
    program: 'codex-acp',
    args: [],
    install: 'npm install -g @agentclientprotocol/codex-acp',
    env: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
    login: CODEX_LOGIN,
    boxesCommands: true,
    steering: 'method',
    failure: 'no usage',
    role: 'system text',
    modes: { plan: 'read-only', delegate: 'read-only', edit: 'workspace-write', full: 'full-access' },
    abilities: { ...ABLE, steer: true },
    holds: { plan: 'enforced', delegate: 'refused' },
    cost: 'tokens',
  },
  'claude-agent-acp': {
    ...PLAIN,
    title: 'Claude Code through ACP',
    isClaudeCode: true,
    program: 'claude-agent-acp',
    args: [],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    env: ['ANTHROPIC_*', 'CLAUDE_*'],
    login: CLAUDE_LOGIN,
    steering: 'method',
    role: 'system text',
    modes: { plan: 'plan', delegate: 'default', edit: 'acceptEdits', full: 'bypassPermissions' },
    meta: (tools) => (tools === undefined ? {} : { claudeCode: { options: { allowedTools: [`mcp__${tools}`] } } }),
    abilities: { ...ABLE, steer: true },
    holds: { plan: 'enforced', delegate: 'refused' },
    cost: 'reported',
  },
  goose: {
    ...PLAIN,
    title: 'goose',
    program: 'goose',
    args: ['acp'],
    install: 'see block.github.io/goose',
    env: ['GOOSE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GOOGLE_*', 'OPENROUTER_*', 'DATABRICKS_*', 'OLLAMA_HOST'],
    abilities: { ...ABLE, usage: false },
  },
  qwen: {
    ...PLAIN,
    title: 'Qwen Code',
    program: 'qwen',
    install: 'npm install -g @qwen-code/qwen-code',
    env: ['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*'],
    modelArgs: (model) => ['--model', model],
    abilities: { ...ABLE, usage: false },
  },
  kimi: {
    ...PLAIN,
    title: 'Kimi Code',
    program: 'kimi',
    args: ['acp'],
    install: 'see github.com/MoonshotAI/kimi-cli',
    env: ['KIMI_*', 'MOONSHOT_*'],
    abilities: { ...ABLE, usage: false },
  },
  copilot: {
    ...PLAIN,
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    args: ['--acp', '--stdio'],
    install: 'npm install -g @github/copilot',
    env: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
    modelArgs: (model) => ['--model', model],
    abilities: { ...ABLE, usage: false },
  },
} as const satisfies Readonly<Record<string, AcpAgent>>;

/**
 * What OpenCode allows, asks about and removes; the last rule that matches a tool decides. The model does not even see a
 * denied tool. `servers` are those of the team and of the member.
 */
function openCodePermissions(
  mode: Mode,
  { servers, ownTools }: { servers: readonly string[]; ownTools: StartOptions['ownTools'] },
): object {
  if (mode === 'full' && !ownTools) return {};
  const rules = OPENCODE_RULES[mode];
  const { allow, deny = [] } = ownTools ?? {};
  const { external_directory } = rules;
  const only = allow && {
    '*': 'deny',
    ...(external_directory && { external_directory }),
    ...Object.fromEntries(allow.map((tool) => [tool, rules[tool] ?? rules['*'] ?? 'allow'])),
  };
  return {
    permission: {
      ...(only ?? rules),
      ...Object.fromEntries(servers.map((name) => [`${name}_*`, 'allow'])),
      ...Object.fromEntries(deny.map((tool) => [tool, 'deny'])),
    },
  };
}

const OPENCODE_RULES: Readonly<Record<Mode, Readonly<Record<string, string>>>> = {
  plan: { edit: 'deny', bash: 'deny', task: 'deny' },
  delegate: { '*': 'deny' },
  edit: { edit: 'allow', bash: 'ask', webfetch: 'ask', external_directory: 'ask' },
  full: {},
};
