import { catalogNameOf, hasProcess, shellTextOf } from './agent.ts';
import type { AgentSpec } from './agent.ts';
import { shellWord } from './shell.ts';

/** What an agent's settings run as the user, or allow without a question. Somebody else may have written them. */
export interface Powers {
  /** The command, with the arguments that the settings add. */
  readonly command: string;
  /** Its variables, as `NAME=value`. */
  readonly env: string[];
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
  const { command, args = [], env = {}, mode, permissions } = spec;
  const powers: Powers = {
    command: commandLineOf(spec),
    env: Object.entries(env)
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
    isFree: mode === 'full',
    allow: permissions?.allow ?? [],
  };
  const isPlain = command === undefined && args.length === 0 && !powers.isFree;
  return isPlain && powers.env.length === 0 && powers.allow.length === 0 ? undefined : powers;
}

/** The command of an agent as a person would type it; a named agent without its own program has its name. */
export function commandLineOf(spec: AgentSpec): string {
  const { command = [catalogNameOf(spec)], args = [] } = spec;
  const text = shellTextOf(command);
  const words = text === undefined ? command.map(shellWord) : [text];
  return [...words, ...args.map(shellWord)].join(' ');
}
