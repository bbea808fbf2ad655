import type { Command, Input } from './command.ts';
import { EXAMPLES } from './examples.ts';
import { flagsOf, mayBeLeftOut } from './inputs.ts';
import { TEXTS } from './texts.ts';

/** A command with its help texts. */
export interface Described {
  readonly words: string;
  readonly summary: string;
  readonly args: readonly DescribedInput[];
  /** All flags, including those that every command has. */
  readonly flags: readonly DescribedInput[];
  readonly more?: string | undefined;
  readonly examples: readonly string[];
}

/** An argument or a flag with its text. */
export type DescribedInput = Input & { readonly text: string };

/** Additional help for commands of operations. */
const MORE: Readonly<Record<string, string>> = {
  inbox:
    '● marks unread messages. Listing changes nothing; --mark-read marks the shown messages as read, as if the member had read them.',
};

/** Adds the help texts to a command. */
export function describeCommand(command: Command): Described {
  const describe = (input: Input): DescribedInput => describeInput(command, input);
  return {
    words: command.words,
    summary: command.summary ?? TEXTS[command.words]?.summary ?? '',
    args: command.args.map((input) =>
      input.field === 'teamId' && mayBeLeftOut(command) ? fromFolder(describe(input)) : describe(input),
    ),
    flags: flagsOf(command).map(describe),
    more: command.more ?? MORE[command.words],
    examples: EXAMPLES[command.words] ?? TEXTS[command.words]?.examples ?? [],
  };
}

/** A team that may be left out is not required. */
function fromFolder({ required: _required, ...team }: DescribedInput): DescribedInput {
  const text = team.text.includes('(default') ? team.text : `${team.text} (default: the one of the folder you are in)`;
  return { ...team, text };
}

/** Adds the help text to an argument or a flag. */
export function describeInput({ words }: Command, input: Input): DescribedInput {
  const { inputs = {}, defaults = {} } = TEXTS[words] ?? {};
  const fallback = input.default ?? defaults[input.field];
  const text = input.text ?? inputs[input.field] ?? '';
  return { ...input, text, ...(fallback !== undefined && { default: fallback }) };
}
