import type { Command, Input } from '../command.ts';
import { flagsOf } from '../inputs.ts';

/** Kinds of things that the daemon knows and that a command line can name. */
export type Kind = 'team' | 'member' | 'task' | 'request' | 'agent' | 'work' | 'save' | 'leftover';

const KINDS: Readonly<Record<string, Kind>> = {
  teamId: 'team',
  memberId: 'member',
  toId: 'member',
  assigneeId: 'member',
  leadId: 'member',
  as: 'member',
  taskId: 'task',
  dependencies: 'task',
  addDependencies: 'task',
  addDependents: 'task',
  requestId: 'request',
  of: 'work',
  save: 'save',
  ids: 'leftover',
};

/** Fields that name an agent. Elsewhere a field of the same name takes JSON about many, or NAME=AGENT. */
const AGENTS: readonly string[] = ['agent json', 'leadAgent json', 'lead string', 'with list', 'agents list'];

/** The kind that an argument or a flag takes, if the daemon knows its values. */
export function kindOf({ field, type }: Pick<Input, 'field' | 'type'>): Kind | undefined {
  if (field === 'after' && type === 'string') return 'task';
  return AGENTS.includes(`${field} ${type}`) ? 'agent' : KINDS[field];
}

/** What the last word of a command line is for, and the team that the words before it name. */
export interface Place {
  readonly input: Input | undefined;
  readonly team: string | undefined;
  /** The part of the value that is typed already. */
  readonly typed: string;
}

/** Finds what the last word after a command's name is for. The other words may be invalid: people are still typing. */
export function findPlace(command: Command, words: readonly string[]): Place {
  const flags = flagsOf(command);
  const places: string[] = [];
  const typed = words.at(-1) ?? '';
  let team: string | undefined;
  for (let at = 0; at < words.length - 1; at++) {
    const word = words[at] ?? '';
    const [name = '', inline] = word.split(/=(.*)/s);
    const flag = word.startsWith('-') ? flags.find((one) => name === `--${one.name}`) : undefined;
    if (!word.startsWith('-')) places.push(word);
    if (!flag || flag.type === 'boolean') continue;
    if (inline === undefined && at === words.length - 2) return { input: flag, team, typed };
    const value = inline ?? words[++at];
    if (flag.field === 'teamId') team = value;
  }
  // `--team=de`: shells that pass it as one word put the flag's name before each suggestion themselves.
  const [name = '', inline] = typed.split(/=(.*)/s);
  const flag = inline === undefined ? undefined : flags.find((one) => name === `--${one.name}`);
  if (flag) return { input: flag, team, typed: inline ?? '' };
  const { args } = command;
  const named = args.findIndex(({ field }) => field === 'teamId');
  const last = args.at(-1);
  const isRest = last?.type === 'list' || last?.type === 'words';
  return { input: args[places.length] ?? (isRest ? last : undefined), team: team ?? places[named], typed };
}
