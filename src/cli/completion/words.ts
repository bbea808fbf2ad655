import { flagsOf } from '../arguments.ts';
import type { Command, Input } from '../command.ts';
import { allCommands } from '../commands.ts';
import { PROGRAMS } from '../own.ts';

/** A word and what it means. */
export interface Word {
  readonly word: string;
  readonly text: string;
}

const NOUNS: Readonly<Record<string, string>> = {
  team: 'Teams',
  member: 'Members of a team',
  task: 'Tasks of a team',
  message: 'Messages between members',
  request: 'What waits for an answer',
  shutdown: 'Asking members to stop',
  plan: 'Plans and their approval',
  event: 'What happened',
  usage: 'Tokens and money',
  token: 'Credentials',
};

/** The commands, each under its words. */
export function completedCommands(): Command[] {
  return allCommands();
}

/** What may stand first. */
export function firstWords(): Word[] {
  const commands = allCommands();
  const single = commands.filter(({ words }) => !words.includes(' '));
  const nouns = new Set(commands.flatMap(({ words }) => (words.includes(' ') ? [words.split(' ')[0] ?? ''] : [])));
  return [
    ...[...nouns].map((word) => ({ word, text: NOUNS[word] ?? word })),
    ...[...single, ...PROGRAMS].map(({ words, summary }) => ({ word: words, text: summary })),
    { word: 'help', text: 'Show what there is' },
  ];
}

/** The verbs of each noun. */
export function verbs(): Map<string, Word[]> {
  const pairs = allCommands().filter(({ words }) => words.includes(' '));
  const groups = Map.groupBy(pairs, ({ words }) => words.split(' ')[0] ?? '');
  return new Map(
    [...groups].map(([noun, commands]) => [
      noun,
      commands.map(({ words, summary }) => ({ word: words.slice(noun.length + 1), text: summary })),
    ]),
  );
}

/** The flags of a command as words. */
export function flagWords(command: Command): Word[] {
  return flagsOf(command).map(({ name, text }) => ({ word: `--${name}`, text }));
}

/** The flags of a command that take one of a few values. */
export function choices(command: Command): { flag: string; values: readonly string[] }[] {
  return flagsOf(command).flatMap(({ name, values }) => (values ? [{ flag: `--${name}`, values }] : []));
}

/** The flags of a command that take a value. */
export function valued(command: Command): Input[] {
  return flagsOf(command).filter(({ type }) => type !== 'boolean');
}

/** The values that the command's first argument may have, if they are few. */
export function firstArgument(command: Command): readonly string[] {
  return command.args[0]?.values ?? [];
}
