import type { Scope } from '../../operations/caller.ts';
import type { OperationName } from '../../operations/index.ts';
import type { Screen } from '../show/screen.ts';

/** How the words of an argument or flag become a value; `words` are all that are left, as they stand. */
export type InputType = 'string' | 'number' | 'boolean' | 'list' | 'words' | 'json' | 'duration' | 'time';

/** An argument or a flag of a command. */
export interface Input {
  /** What the operation calls it. */
  readonly field: string;
  /** What the command line calls it: `needs` is `--needs` as a flag and `<needs>` as an argument. */
  readonly name: string;
  readonly type: InputType;
  readonly values?: readonly string[] | undefined;
  readonly required?: boolean;
  /** The word `none` stands for null. */
  readonly nullable?: boolean;
  /** One letter, for flags that are typed by hand. */
  readonly short?: string;
  /** One line for help texts. Those of operations are in a file of their own, which help alone needs. */
  readonly text?: string;
  readonly default?: string | number | boolean;
  /** What help calls its value. */
  readonly value?: string;
}

/** What a command works with. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly screen: Screen;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
  /** All commands that there are. */
  readonly commands: CommandTable;
}

/** A command line: the words that name it and what may follow them. */
export interface Command {
  /** `task add`. */
  readonly words: string;
  readonly args: readonly Input[];
  readonly flags: readonly Input[];
  /** What it calls; a command of the command line's own has none. */
  readonly operation?: OperationName;
  readonly scope?: Scope;
  /** It prints a text for another program: there is no result that could be JSON. */
  readonly plain?: true;
  /** One line for help texts, of commands that do not come from operations. */
  readonly summary?: string;
  /** What else one has to know, for the help text. */
  readonly more?: string;
  /** Loads what a command does that is more than its operation, or has none. */
  readonly load?: () => Promise<{ run(given: Arguments, surroundings: Surroundings): Promise<number> }>;
  /** Loads a program that reads its words itself, and runs until it is ended. */
  readonly loadProgram?: () => Promise<(words: readonly string[]) => Promise<void>>;
}

/** All commands. One is made when it is asked for: every command line waits for that. */
export interface CommandTable {
  /** Of each command, in the order in which they are listed. */
  readonly names: readonly string[];
  /** The command with exactly this name. */
  get(name: string): Command | undefined;
}

/** What a command line says. */
export interface Arguments {
  /** What goes to the operation, by field. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The member that a person speaks for. */
  readonly as: string | undefined;
  readonly json: boolean;
}

/** What help texts say of a command that comes from an operation. */
export interface CommandTexts {
  readonly summary: string;
  /** By field. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly defaults: Readonly<Record<string, string | number | boolean>>;
}
