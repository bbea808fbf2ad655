import type { Scope } from '../operations/caller.ts';
import type { OperationName } from '../operations/index.ts';

/** How the words of an argument or flag become a value. */
export type InputType = 'string' | 'number' | 'boolean' | 'list' | 'json' | 'duration' | 'time';

/** An argument or a flag of a command. */
export interface Input {
  /** What the operation calls it. */
  readonly field: string;
  /** What the command line calls it: `needs` is `--needs` as a flag and `<needs>` as an argument. */
  readonly name: string;
  readonly type: InputType;
  /** One line for help texts; empty when the name says it all. */
  readonly text: string;
  readonly values?: readonly string[];
  readonly required?: true;
  /** The word `none` stands for null. */
  readonly nullable?: true;
  readonly default?: string | number | boolean;
  /** One letter, for flags that are typed by hand. */
  readonly short?: string;
}

/** A command line: the words that name it and what may follow them. */
export interface Command {
  /** `task add`. */
  readonly words: string;
  readonly summary: string;
  readonly args: readonly Input[];
  readonly flags: readonly Input[];
  /** What it calls; a command of the command line's own has none. */
  readonly operation?: OperationName;
  readonly scope?: Scope;
}
