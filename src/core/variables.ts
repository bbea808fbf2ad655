import type { AgentSpec, McpServer } from './agent.ts';

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What an activated environment of Python sets. */
export const PYTHON = ['VIRTUAL_ENV', 'CONDA_PREFIX', 'CONDA_DEFAULT_ENV'] as const;

/** Variables that run code in every program that is started with them. */
export const RUNS_CODE = /^(NODE_OPTIONS|LD_|DYLD_|BASH_ENV$|ENV$|PYTHONSTARTUP$|GIT_SSH_COMMAND$)/;

/** The variables that members and hooks of a team take from the command that brings it up. */
export interface TeamVariables {
  /** What programs and the agents' providers usually need, and what hooks may see: names, or beginnings such as `LC_*`. */
  readonly usual: string[];
  /** What its file gives to members, as `${NAME}`. */
  readonly named: string[];
}

/** Whether a name fits a pattern: itself, or a beginning such as `LC_*`. */
export function matchesName(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The variables that fit one of the patterns and are set. */
export function pickVariables(variables: Variables, patterns: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && patterns.some((pattern) => matchesName(entry[0], pattern)),
    ),
  );
}

/** An environment in which everything that fits the patterns comes from `given`, also what is not set there. */
export function replaceVariables(ours: Variables, patterns: readonly string[], given: Variables): Variables {
  const rest = Object.entries(ours).filter(([name]) => !patterns.some((pattern) => matchesName(name, pattern)));
  return { ...Object.fromEntries(rest), ...pickVariables(given, patterns) };
}

/** They differ between terminals, and no program works differently because of them. */
const OF_TERMINAL = ['TERM', 'COLORTERM'];

/** The names of variables that differ, sorted. */
export function findDifferent(before: Variables, after: Variables): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name] && !OF_TERMINAL.includes(name)).sort();
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
