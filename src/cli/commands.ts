import { findNearest } from '../core/nearest.ts';
import type { Command } from './command.ts';
import { UsageError } from './errors.ts';
import { COMMAND_NAMES, readCommand } from './manifest.ts';
import { OWN_COMMANDS, PROGRAMS } from './own.ts';
import type { OwnCommand } from './own/own-command.ts';

/** A command and the words that follow its name. */
export interface Found {
  readonly command: Command | OwnCommand;
  readonly rest: readonly string[];
}

/** The command that the words begin with. An operation is also found under its own name: `task create`. */
export function findCommand(words: readonly string[]): Found | undefined {
  const [first = '', second = ''] = words;
  for (const name of [`${first} ${second}`, first]) {
    const own = OWN_COMMANDS.find((one) => one.words === name);
    if (own) return { command: own, rest: words.slice(name === first ? 1 : 2) };
  }
  const two = readCommand(`${first} ${second}`);
  if (two) return { command: two, rest: words.slice(2) };
  const one = readCommand(first);
  if (one) return { command: one, rest: words.slice(1) };
  const named = allCommands().find(({ operation }) => operation === `${first}.${second}`);
  return named && { command: named, rest: words.slice(2) };
}

/** Every command, each under one name. */
export function allCommands(): (Command | OwnCommand)[] {
  const own = new Set(OWN_COMMANDS.map(({ words }) => words));
  const others = COMMAND_NAMES.filter((words) => !own.has(words)).flatMap((words) => readCommand(words) ?? []);
  return [...others, ...OWN_COMMANDS];
}

/** Whether a word is one that verbs follow, as `add` follows `task`. */
export function isNoun(word: string): boolean {
  return [...COMMAND_NAMES, ...OWN_COMMANDS.map(({ words }) => words)].some((words) => words.startsWith(`${word} `));
}

/** The commands of a noun: `task` has `task add` and others. */
export function commandsOf(noun: string): (Command | OwnCommand)[] {
  return allCommands().filter(({ words }) => words.startsWith(`${noun} `));
}

/** Why there is no such command, and which one may have been meant. */
export function unknownCommand([first = '', second = '']: readonly string[]): UsageError {
  if (isNoun(first)) {
    const verbs = commandsOf(first).map(({ words }) => words.slice(first.length + 1));
    const nearest = findNearest(second, verbs);
    const hint =
      nearest === undefined ? `; there is ${verbs.join(', ')}` : `; did you mean troupe ${first} ${nearest}?`;
    return new UsageError(`There is no command ${JSON.stringify(`${first} ${second}`)}${hint}`, first);
  }
  if (first.startsWith('-')) return new UsageError(`There is no flag ${first} without a command before it`);
  const names = ['help', ...[...allCommands(), ...PROGRAMS].map(({ words }) => words)];
  const nouns = [...new Set(names.flatMap((words) => [words.split(' ')[0] ?? '', words]))];
  const nearest = findNearest(first, nouns) ?? names.find((words) => words.split(' ')[1] === first);
  const hint = nearest === undefined ? '' : `; did you mean troupe ${nearest}?`;
  return new UsageError(`There is no command ${JSON.stringify(first)}${hint}`);
}
