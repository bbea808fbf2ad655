import { ACP_AGENTS } from './acp/agents.ts';
import type { Abilities } from './agent.ts';
import type { AgentRow } from './row.ts';

/** Every agent that has a name, in the order in which they are shown. */
export const AGENTS = {
  claude: {
    title: 'Claude Code',
    kind: 'claude',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    abilities: { steer: true, interrupt: true, resume: true, mail: true, usage: true, permissions: true },
    cost: 'reported',
    holds: { plan: 'enforced', delegate: 'enforced' },
    known: 'measured',
    env: ['ANTHROPIC_*', 'CLAUDE_*', 'AWS_*', 'GOOGLE_*'],
  },
  codex: {
    title: 'Codex',
    kind: 'codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    abilities: { steer: true, interrupt: true, resume: true, mail: true, usage: true, permissions: true },
    cost: 'tokens',
    holds: { plan: 'enforced', delegate: 'enforced' },
    known: 'measured',
    env: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
  },
  ...ACP_AGENTS,
} as const satisfies Readonly<Record<string, AgentRow>>;

/** The name of an agent that we know. */
export type AgentName = keyof typeof AGENTS;

/** What is known of the agents that have no name of their own: programs and functions that a user writes. */
export const OWN_AGENTS = {
  exec: { steer: false, interrupt: true, resume: true, mail: false, usage: true, permissions: false },
  function: { steer: false, interrupt: true, resume: true, mail: true, usage: false, permissions: false },
} as const satisfies Readonly<Record<string, Abilities>>;

/** What is known of an agent by this name. */
export function findAgent(name: string): AgentRow | undefined {
  return Object.hasOwn(AGENTS, name) ? AGENTS[name as AgentName] : undefined;
}

/** The variables of ours that an agent's provider needs. */
export function providerVariables(
  { env }: Pick<AgentRow, 'env'>,
  ours: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(ours).filter((name) =>
    env.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)),
  );
}
