import type { Arguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import type { Screen } from '../screen.ts';

/** What a command of the command line's own works with. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly screen: Screen;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
}

/** A command that is more than one operation, or none. Its code is loaded when it is called. */
export interface OwnCommand extends Command {
  load(): Promise<{ run(given: Arguments, surroundings: Surroundings): Promise<number> }>;
}
