import { catalogNameOf, hasProcess } from './agent-kinds.ts';
import type { AgentSpec, McpServer } from './agent.ts';
import { shellTextOf, shellWord } from './shell.ts';
import { secretsOf } from './variables.ts';

/** What an agent's settings run as the user, or allow without a question. Somebody else may have written them. */
export interface Powers {
  /** The command, with the arguments that the settings add. */
  readonly command: string;
  /** Its variables, as `NAME=value`. */
  readonly env: string[];
  /** Its servers of tools, as `NAME: command` or `NAME: address`, each with its variables. */
  readonly servers: string[];
  /** It may do everything without asking. */
  readonly isFree: boolean;
  /** What it may do without asking. */
  readonly allow: string[];
}

/**
 * The powers that a person must approve if the settings come from a file; undefined for a plain named agent, which asks
 * before it does anything.
 */
export function powersOf(spec: AgentSpec): Powers | undefined {
  if (!hasProcess(spec)) return undefined;
  const { command, args = [], env = {}, mode, permissions, mcp = {} } = spec;
  const powers: Powers = {
    command: commandLineOf(spec),
    env: linesOf(env),
    servers: Object.entries(mcp).map(([name, server]) => describeServer(name, server)),
    isFree: mode === 'full',
    allow: permissions?.allow ?? [],
  };
  const isPlain = command === undefined && args.length === 0 && !powers.isFree;
  const grants = [...powers.env, ...powers.servers, ...powers.allow];
  return isPlain && grants.length === 0 ? undefined : powers;
}

function linesOf(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

function describeServer(name: string, server: McpServer): string {
  const what = 'url' in server ? server.url : wordCommand(server.command);
  return [`${name}: ${what}`, ...linesOf(secretsOf(server))].join(' ');
}

/** The command of an agent as a person would type it; a named agent without its own program has its name. */
export function commandLineOf(spec: AgentSpec): string {
  const { command = [catalogNameOf(spec)], args = [] } = spec;
  return [wordCommand(command), ...args.map(shellWord)].join(' ');
}

function wordCommand(command: readonly string[]): string {
  return shellTextOf(command) ?? command.map(shellWord).join(' ');
}
