import { hasProcess, isTeamAgent } from '../core/agent-kinds.ts';
import { findNearest } from '../core/nearest.ts';
import { quote } from '../core/text.ts';
import { matchesName } from '../core/variables.ts';
import type { Variables } from '../core/variables.ts';
import { ACP_AGENTS, UNKNOWN_ACP } from './acp/agents.ts';
import type { Abilities } from './agent.ts';
import { CODEX_TOOLS } from './codex/tools.ts';
import { CLAUDE_LOGIN, CODEX_LOGIN } from './logins.ts';
import type { AgentRow } from './row.ts';

/** What is the same however Claude Code is run. */
const CLAUDE_CODE = {
  program: 'claude',
  provider: 'anthropic',
  install: 'npm install -g @anthropic-ai/claude-code',
  known: 'measured',
  isClaudeCode: true,
  login: CLAUDE_LOGIN,
  takes: {
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
    mcp: true,
    skills: true,
    tools: true,
  },
  obeys: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
  env: ['ANTHROPIC_*', 'CLAUDE_*', 'DISABLE_*', 'MAX_THINKING_TOKENS', 'MCP_TIMEOUT', 'API_TIMEOUT_MS'],
  clouds: [
    { chosenBy: 'CLAUDE_CODE_USE_BEDROCK', env: ['AWS_*'] },
    {
      chosenBy: 'CLAUDE_CODE_USE_VERTEX',
      env: ['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_*', 'GCLOUD_PROJECT', 'CLOUD_ML_*', 'VERTEX_*'],
    },
    { chosenBy: 'CLAUDE_CODE_USE_FOUNDRY', env: ['AZURE_*'] },
  ],
  foreign: [
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_EXECPATH',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_CODE_TASK_LIST_ID',
    'CLAUDE_CODE_TEAMMATE_COMMAND',
    'CLAUDE_PID',
    'CLAUDE_PROJECT_DIR',
  ],
} as const;

/** Every named agent, in the order in which they are listed. */
export const AGENTS = {
  claude: {
    ...CLAUDE_CODE,
    title: 'Claude Code',
    kind: 'claude',
    abilities: { steer: true, interrupt: true, resume: true, mail: true, usage: true, permissions: true },
    cost: 'reported',
    holds: { plan: 'enforced', delegate: 'enforced' },
  },
  'claude-native': {
    ...CLAUDE_CODE,
    title: 'Claude Code in a terminal, as one of its own teammates',
    kind: 'claude-native',
    abilities: { steer: false, interrupt: true, resume: true, mail: true, usage: true, permissions: true },
    cost: 'tokens',
    holds: { plan: 'refused', delegate: 'refused' },
    variantOf: 'claude',
    takes: {
      ...CLAUDE_CODE.takes,
      mcp: { not: 'in a terminal it has the servers of your own settings (claude mcp add); or use claude' },
    },
    needs: [{ program: 'tmux', next: 'install tmux, in which it runs; or use claude, which needs none' }],
    versions: ['2.1.37', '2.1.325'],
  },
  codex: {
    title: 'Codex',
    kind: 'codex',
    program: 'codex',
    provider: 'openai',
    install: 'npm install -g @openai/codex',
    abilities: { steer: true, interrupt: true, resume: true, mail: true, usage: true, permissions: true },
    cost: 'tokens',
    holds: { plan: 'enforced', delegate: 'enforced' },
    known: 'measured',
    obeys: ['.codex/config.toml'],
    env: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
    login: CODEX_LOGIN,
    takes: {
      effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      mcp: true,
      skills: true,
      tools: CODEX_TOOLS,
    },
    boxesCommands: true,
  },
  ...ACP_AGENTS,
} as const satisfies Readonly<Record<string, AgentRow>>;

/** The name of a known agent. */
type AgentName = keyof typeof AGENTS;

/** What a user's own programs, functions and teams can do. */
export const OWN_AGENTS = {
  exec: { steer: false, interrupt: true, resume: true, mail: false, usage: true, permissions: false },
  function: { steer: false, interrupt: true, resume: true, mail: true, usage: false, permissions: false },
  team: { steer: true, interrupt: true, resume: true, mail: false, usage: true, permissions: false },
} as const satisfies Readonly<Record<string, Abilities>>;

const OF_INNER = { not: 'it is a team: set it for its members, in its file' } as const;

const OWN = {
  program: '',
  env: [],
  cost: 'none',
  holds: { plan: 'asked', delegate: 'asked' },
  known: 'measured',
  takes: {
    effort: { not: 'it is your own; give it what it needs as args or env' },
    mcp: { not: 'it is your own; it can start servers itself' },
    skills: { not: 'it is your own; it can read files itself' },
    tools: { not: 'it is your own; it has no tools that Troupe knows' },
  },
} as const;

/** The agents without a name: any other that speaks ACP, what a user writes, and teams. */
export const NAMELESS: Readonly<Record<string, AgentRow>> = {
  acp: UNKNOWN_ACP,
  exec: {
    ...OWN,
    title: 'any program',
    kind: 'exec',
    install: 'name it: agent: { exec: ./work.sh }',
    abilities: OWN_AGENTS.exec,
    cost: 'reported',
  },
  function: {
    ...OWN,
    title: 'a function in this process',
    kind: 'function',
    install: 'give it to the library',
    abilities: OWN_AGENTS.function,
  },
  team: {
    ...OWN,
    title: 'a team of its own',
    kind: 'team',
    install: 'name its file: agent: { team: ./review/troupe.yaml }',
    abilities: OWN_AGENTS.team,
    cost: 'reported',
    takes: { effort: OF_INNER, mcp: OF_INNER, skills: OF_INNER, tools: OF_INNER },
  },
};

/** The row of the agent with this name. */
export function findAgent(name: string): AgentRow | undefined {
  return Object.hasOwn(AGENTS, name) ? AGENTS[name as AgentName] : undefined;
}

/** Why this name alone cannot run an agent, and what was probably meant; undefined if it can. */
export function explainUnknown(name: string): string | undefined {
  if (findAgent(name)) return undefined;
  const nameless = Object.hasOwn(NAMELESS, name) ? NAMELESS[name] : undefined;
  if (nameless) {
    const isProgram = hasProcess(nameless) && !isTeamAgent(nameless);
    const next = isProgram ? `name it, as in {"${name}": "./work.sh"}` : nameless.install;
    return `The agent ${name} is ${nameless.title}: ${next}`;
  }
  const names = Object.keys(AGENTS);
  const nearest = findNearest(name, names);
  const meant = nearest === undefined ? `choose one of ${names.join(', ')}.` : `did you mean ${nearest}?`;
  const other = `An agent of your own that speaks ACP needs its command: ${UNKNOWN_ACP.install.replace(/^.*?: /, '')}`;
  return `There is no agent named ${quote(name)}: ${meant} ${other}`;
}

/**
 * The names of our variables that an agent needs for its provider; the member's own variables may choose the provider.
 */
export function providerVariables(
  { env, clouds = [], foreign = [] }: Pick<AgentRow, 'env' | 'clouds' | 'foreign'>,
  ours: Variables,
  added: Variables = {},
): string[] {
  const chosen = clouds.filter(({ chosenBy }) => isOn(added[chosenBy] ?? ours[chosenBy]));
  const wanted = [...env, ...chosen.flatMap((cloud) => cloud.env)];
  return Object.keys(ours).filter(
    (name) => !foreign.includes(name) && wanted.some((pattern) => matchesName(name, pattern)),
  );
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no', 'off'].includes(value.toLowerCase());
}
