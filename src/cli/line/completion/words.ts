import type { CommandTable } from '../command.ts';
import { describeCommand } from '../described.ts';
import type { Described, DescribedInput } from '../described.ts';
import { allCommands } from '../find.ts';

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
  request: 'Requests that wait for an answer',
  shutdown: 'Asking members to stop',
  plan: 'Plans and their approval',
  event: 'What happened',
  usage: 'Tokens and money',
  token: 'Credentials',
  session: 'Sessions of agents',
  note: 'Notes that the team keeps',
  hook: 'Hooks and their approval',
  transcript: 'Transcripts of agents',
};

/** All commands with their help texts. */
export function completedCommands(table: CommandTable): Described[] {
  return allCommands(table).map(describeCommand);
}

/** The words that may come first, each once: `work` is a noun with verbs, and a command of its own. */
export function firstWords(commands: readonly Described[]): Word[] {
  const single = commands.filter(({ words }) => !words.includes(' '));
  const nouns = new Set(commands.flatMap(({ words }) => (words.includes(' ') ? [words.split(' ')[0] ?? ''] : [])));
  for (const { words } of single) nouns.delete(words);
  return [
    ...[...nouns].map((word) => ({ word, text: NOUNS[word] ?? word })),
    ...single.map(({ words, summary }) => ({ word: words, text: summary })),
    { word: 'help', text: 'Show what there is' },
  ];
}

/** The verbs of each noun. */
export function verbs(commands: readonly Described[]): Map<string, Word[]> {
  const pairs = commands.filter(({ words }) => words.includes(' '));
  const groups = Map.groupBy(pairs, ({ words }) => words.split(' ')[0] ?? '');
  return new Map(
    [...groups].map(([noun, list]) => [
      noun,
      list.map(({ words, summary }) => ({ word: words.slice(noun.length + 1), text: summary })),
    ]),
  );
}

/** The flags of a command, as words. */
export function flagWords(command: Described): Word[] {
  return command.flags.map(({ name, text }) => ({ word: `--${name}`, text }));
}

/** The flags of a command that take one of a few values. */
export function choices(command: Described): { flag: string; values: readonly string[] }[] {
  return command.flags.flatMap(({ name, values }) => (values ? [{ flag: `--${name}`, values }] : []));
}

/** The flags of a command that take a value. */
export function valued(command: Described): DescribedInput[] {
  return command.flags.filter(({ type }) => type !== 'boolean');
}

/** The values of the command's first argument, if it has a fixed set. */
export function firstArgument(command: Described): readonly string[] {
  return command.args[0]?.values ?? [];
}
