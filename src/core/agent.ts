import { z } from 'zod';
import { Line, Slug } from './text.ts';

/** How a member's agent is run. `function` lives in the process that registered it. */
export const AgentKind = z.enum(['exec', 'function', 'claude', 'codex', 'acp', 'claude-native']);
export type AgentKind = z.infer<typeof AgentKind>;

/** What rules have to know of a kind. */
interface KindRow {
  /** A daemon runs it, as a process of its own. */
  readonly hasProcess: boolean;
  /** Its user wrote it for one member, and any machine may have it. */
  readonly isOwn: boolean;
  /** Its kind is the name by which people ask for it. */
  readonly isNamed: boolean;
}

/** How the kinds differ, for rules. `agents/catalog.ts` says the rest. */
const KINDS: Readonly<Record<AgentKind, KindRow>> = {
  exec: { hasProcess: true, isOwn: true, isNamed: false },
  function: { hasProcess: false, isOwn: true, isNamed: false },
  claude: { hasProcess: true, isOwn: false, isNamed: true },
  codex: { hasProcess: true, isOwn: false, isNamed: true },
  acp: { hasProcess: true, isOwn: false, isNamed: false },
  'claude-native': { hasProcess: true, isOwn: false, isNamed: true },
};

/** Whether a daemon runs this agent. */
export function hasProcess({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].hasProcess;
}

/** Whether it is a program or a function of the user's own. */
export function isOwnAgent({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return KINDS[kind].isOwn;
}

/** What a person allows or forbids beforehand: a tool by its name, or `Tool(beginning of what it is given*)`. */
const PermissionRule = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[^()]+(\(.*\))?$/s, 'is not a rule such as "Bash(npm test*)" or "WebFetch"');

/**
 * What runs a member. Programs, arguments and environment come from a person (the command line, a team file), never from
 * an agent. A value `${NAME}` in `env` is taken from the environment of the machine that starts it, so that secrets are
 * named here and not kept.
 */
export const AgentSpec = z.strictObject({
  kind: AgentKind,
  /** For `exec` the program and its arguments; for the others a binary to use in place of the one on the path. */
  command: z.array(z.string().min(1).max(4096)).min(1).max(64).optional(),
  /** Added to the arguments that the driver gives. */
  args: z.array(z.string().max(4096)).max(64).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(32_768)).optional(),
  /** Which of the agents that speak ACP. */
  name: Slug.optional(),
  /** `exec`: also start the program for mail alone; otherwise mail waits for its next task. */
  messages: z.boolean().optional(),
  /** What the agent may do without asking. */
  mode: z.enum(['plan', 'edit', 'full']).optional(),
  model: Line.optional(),
  /** What it may or may not do, answered without a person; what no rule is about is asked. Deny wins. */
  permissions: z
    .strictObject({
      allow: z.array(PermissionRule).max(200).optional(),
      deny: z.array(PermissionRule).max(200).optional(),
    })
    .optional(),
});
export type AgentSpec = z.output<typeof AgentSpec>;

/**
 * What runs a member, in any of the ways in which people write it: the name of an agent, a program or an ACP agent as in a
 * team file (`{ exec: … }`, `{ acp: … }`), or all of it.
 */
export const AgentInput = z.preprocess(readAgent, AgentSpec);

function readAgent(given: unknown): unknown {
  if (typeof given === 'string') return agentNamed(given);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { exec, acp, ...rest } = given as Readonly<Record<string, unknown>>;
  const kind = exec === undefined ? (acp === undefined ? undefined : 'acp') : 'exec';
  const command = exec ?? acp ?? rest['command'];
  return {
    ...rest,
    ...(kind && { kind }),
    ...(command !== undefined && { command: typeof command === 'string' ? argvOf(command) : command }),
  };
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The value of a variable of an agent, with each `${NAME}` as `lookUp` has it; what it does not have is empty. */
export function fillIn(value: string, lookUp: (name: string) => string | undefined): string {
  return value.replace(VARIABLE, (_match, name: string) => lookUp(name) ?? '');
}

/** The names that the variables of an agent take from the environment of the daemon which runs it. */
export function namesTaken({ env = {} }: Pick<AgentSpec, 'env'>): string[] {
  return Object.values(env).flatMap((value) => [...value.matchAll(VARIABLE)].map(([, name = '']) => name));
}

/** A list is a program and its arguments; a text is a shell command, run as it stands. */
export function argvOf(command: string | readonly string[]): string[] {
  return typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
}

/** The text of a command that a shell reads; undefined of one that is a program and its arguments. */
export function shellTextOf(command: readonly string[]): string | undefined {
  const [shell, flag, text] = command;
  return shell === '/bin/sh' && flag === '-c' ? text : undefined;
}

/** The agents that a team's lead may bring in, by the name under which it asks for them. */
export const AgentChoice = z.record(Slug, AgentSpec);
export type AgentChoice = z.output<typeof AgentChoice>;

/** An agent by its name alone: the ones with a way of their own, else one that speaks ACP. */
export function agentNamed(name: string): AgentSpec {
  const own = AgentKind.options.find((kind) => kind === name && KINDS[kind].isNamed);
  return own ? { kind: own } : { kind: 'acp', name };
}

/** The name under which the catalog knows an agent: `claude` for Claude Code, the name of one that speaks ACP. */
export function catalogNameOf({ kind, name }: Pick<AgentSpec, 'kind' | 'name'>): string {
  return kind === 'acp' ? (name ?? kind) : kind;
}
