import { findNearest } from '../../core/nearest.ts';
import { UsageError } from '../show/errors.ts';
import type { Command, CommandTable } from './command.ts';

/** A command and the words that follow its name. */
export interface Found {
  readonly command: Command;
  readonly rest: readonly string[];
}

/** Finds the command that the words begin with. An operation is also found under its own name: `task create`. */
export function findCommand(table: CommandTable, words: readonly string[]): Found | undefined {
  const [first = '', second = ''] = words;
  const two = table.get(`${first} ${second}`);
  if (two) return { command: two, rest: words.slice(2) };
  const one = table.get(first);
  const whole = one && { command: one, rest: words.slice(1) };
  // `work` is a command and a noun: what follows may be a verb. Reading all commands takes time, so others don't.
  if (whole && (second === '' || second.startsWith('-') || !isNoun(table, first))) return whole;
  const named = allCommands(table).find(({ operation }) => operation === `${first}.${second}`);
  return named ? { command: named, rest: words.slice(2) } : whole;
}

/** Every command, each under one name. */
export function allCommands(table: CommandTable): Command[] {
  return table.names.flatMap((name) => table.get(name) ?? []);
}

/** Whether a word is a noun, which a verb follows, as `add` follows `task`. */
export function isNoun({ names }: CommandTable, word: string): boolean {
  return names.some((name) => name.startsWith(`${word} `));
}

/** The commands of a noun: `task` has `task add` and others. */
export function commandsOf(table: CommandTable, noun: string): Command[] {
  return allCommands(table).filter(({ words }) => words.startsWith(`${noun} `));
}

/** The error for an unknown command, with the name that was probably meant. */
export function unknownCommand(table: CommandTable, [first = '', second = '']: readonly string[]): UsageError {
  if (isNoun(table, first)) {
    const verbs = commandsOf(table, first).map(({ words }) => words.slice(first.length + 1));
    const nearest = findNearest(second, verbs);
    const hint =
      nearest === undefined ? `; there is ${verbs.join(', ')}` : `; did you mean troupe ${first} ${nearest}?`;
    return new UsageError(`There is no command ${JSON.stringify(`${first} ${second}`)}${hint}`, first);
  }
  if (first.startsWith('-')) return new UsageError(`There is no flag ${first} without a command before it`);
  if (Object.hasOwn(OTHER_WORDS, first)) {
    return new UsageError(`There is no command ${JSON.stringify(first)}: ${OTHER_WORDS[first]}`);
  }
  const names = ['help', ...table.names];
  const nouns = [...new Set(names.flatMap((words) => [words.split(' ')[0] ?? '', words]))];
  const nearest = findNearest(first, nouns) ?? names.find((words) => words.split(' ')[1] === first);
  const hint = nearest === undefined ? '' : `; did you mean troupe ${nearest}?`;
  return new UsageError(`There is no command ${JSON.stringify(first)}${hint}`);
}

/** Words of other programs, and what they are here. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  start: 'troupe up starts the team of a team file, troupe run "GOAL" one for a goal, troupe serve the daemon',
  restart:
    'troupe up starts what is stopped, troupe up --again a closed team over, troupe member restart NAME one member',
  kill: 'troupe member stop NAME stops a member, troupe down TEAM a team, troupe stop --all kills everything',
  quit: 'troupe down TEAM ends a team, troupe stop the daemon',
  resume: 'troupe up starts what is stopped',
};
