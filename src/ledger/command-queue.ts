import type { Command } from '../core/command.ts';
import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';

/** Above 512 commands a commit gets longer, not cheaper per command. */
const COMMANDS_PER_COMMIT = 512;

/** Characters of text in one commit: a batch must fit one message of a journal on the network. */
const TEXT_PER_COMMIT = 256 * 1024;

/** Commands that somebody waits for. */
export interface Waiting {
  /** When it was asked for. */
  readonly at: number;
  readonly commands: readonly Command[];
  readonly pick: (state: TeamState, events: TeamEvent[]) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** The answer, given once it is durable. */
  value?: unknown;
  error?: Error | undefined;
}

/** What was asked of a team and not begun. */
export class CommandQueue {
  #waiting: Waiting[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  get first(): Waiting | undefined {
    return this.#waiting[0];
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** As many as one commit should have, in the order of asking. */
  take(): Waiting[] {
    const queue = this.#waiting;
    let text = 0;
    let count = Math.min(queue.length, 1);
    while (count < Math.min(queue.length, COMMANDS_PER_COMMIT) && text < TEXT_PER_COMMIT) {
      for (const command of (queue[count - 1] as Waiting).commands) text += textIn(command);
      if (text < TEXT_PER_COMMIT) count++;
    }
    if (count < queue.length) return queue.splice(0, count);
    this.#waiting = [];
    return queue;
  }
}

/** How much text a command carries, roughly: its strings and a little for the rest. */
function textIn(command: Command): number {
  let size = 100;
  for (const key in command) {
    const value: unknown = command[key as keyof Command];
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null) size += JSON.stringify(value).length;
  }
  return size;
}
