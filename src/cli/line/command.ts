import type { SharedTaskStatus } from '../../core/task.ts';
import type { Scope } from '../../operations/caller.ts';
import type { OperationName } from '../../operations/index.ts';
import type { Screen } from '../show/screen.ts';

/**
 * How the words of an argument or flag become a value. A `list` is split at commas; of `texts` each is given on its own;
 * `words` are all remaining words, unchanged.
 */
export type InputType = 'string' | 'number' | 'boolean' | 'list' | 'texts' | 'words' | 'json' | 'duration' | 'time';

/** An argument or a flag of a command. */
export interface Input {
  /** Its name in the operation. */
  readonly field: string;
  /** Its name on the command line: `needs` is `--needs` as a flag and `<needs>` as an argument. */
  readonly name: string;
  readonly type: InputType;
  readonly values?: readonly string[] | undefined;
  readonly required?: boolean;
  /** Whether the word `none` means null. */
  readonly nullable?: boolean;
  /** A one-letter name, for flags that people type by hand. */
  readonly short?: string;
  /** One line for help texts. Those of operations are in a separate file that only help loads. */
  readonly text?: string;
  readonly default?: string | number | boolean;
  /** It names a file to write, so `-` is no text from standard input. */
  readonly isPath?: true;
  /** The placeholder of its value in help texts. */
  readonly value?: string;
}

/** The environment of a command. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly screen: Screen;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
  /** All commands. */
  readonly commands: CommandTable;
}

/** A command line: the words that name it and what may follow them. */
export interface Command {
  /** `task add`. */
  readonly words: string;
  readonly args: readonly Input[];
  readonly flags: readonly Input[];
  /** The operation that it calls, if any. */
  readonly operation?: OperationName;
  readonly scope?: Scope;
  /** What it did to its task, as text that follows the task's name. */
  readonly said?: string;
  /** Without a team it may be about a closed one of the folder, although no reader may call it: it leaves that team as it is. */
  readonly mayBeClosed?: true;
  /** The status of the tasks that a shell offers for it. */
  readonly offers?: SharedTaskStatus;
  /** It prints a text for another program, so there is no JSON result. */
  readonly plain?: true;
  /** One line for help texts, if the command does not come from an operation. */
  readonly summary?: string;
  /** Further help text. */
  readonly more?: string;
  /** Loads the code of a command that does more than call its operation, or that has none. */
  readonly load?: () => Promise<{ run(given: Arguments, surroundings: Surroundings): Promise<number> }>;
  /** Loads a program that runs until it is stopped, and then exits by itself. */
  readonly loadProgram?: () => Promise<(given: Arguments) => Promise<void>>;
}

/** The teams that a command may be about if its words name none. One of them is the answer; several are a question. */
export interface Candidates {
  readonly names: readonly string[];
  /** Whether they are the teams of the folder. Otherwise they are all open ones. */
  readonly areHere: boolean;
}

/** All commands. Each is built on demand, because every command line waits for it. */
export interface CommandTable {
  /** The names of all commands, in the order in which they are listed. */
  readonly names: readonly string[];
  /** The command with exactly this name. */
  get(name: string): Command | undefined;
}

/** The parsed command line. */
export interface Arguments {
  /** The input of the operation, by field. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The member that a person speaks for. */
  readonly as: string | undefined;
  readonly json: boolean;
}

/** The help texts of a command that comes from an operation. */
export interface CommandTexts {
  readonly summary: string;
  readonly examples: readonly string[];
  /** By field. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly defaults: Readonly<Record<string, string | number | boolean>>;
}
