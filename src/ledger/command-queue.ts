import type { Command } from '../core/command.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';

/** Above 512 commands a commit gets longer, not cheaper per command. */
const COMMANDS_PER_COMMIT = 512;

/** Characters of text per commit: a batch must fit into one message of a journal on the network. */
const TEXT_PER_COMMIT = 256 * 1024;

/**
 * Characters of text that may wait, besides the first 64 commands. Those are not measured: queues are nearly always
 * shorter, and measuring would slow down short commands that come alone. 4,000 tasks of 64 KiB at once took 575 MB.
 */
const WAITING_TEXT = 32 * 1024 * 1024;
const UNMEASURED = 64;

/** What was thrown, whatever it is. */
export interface Refusal {
  readonly error: unknown;
}

/** Commands that a caller waits for. */
export interface Waiting {
  /** When the caller asked. */
  readonly at: number;
  readonly commands: readonly Command[];
  readonly pick: (state: TeamState, events: TeamEvent[]) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The answer, handed to the caller once it is durable. */
  value?: unknown;
  /** Why it was refused. */
  refusal?: Refusal | undefined;
  /** Characters of text, if measured. */
  text?: number;
}

/** The commands of a team that no commit has taken yet. */
export class CommandQueue {
  readonly #waiting: Waiting[] = [];
  #text = 0;

  get length(): number {
    return this.#waiting.length;
  }

  get first(): Waiting | undefined {
    return this.#waiting[0];
  }

  /** Rejects commands with `overloaded` if their text would exceed the limit. */
  add(waiting: Waiting): void {
    if (this.#waiting.length >= UNMEASURED && !this.#measure(waiting)) return;
    this.#waiting.push(waiting);
  }

  /** As many as one commit should hold, oldest first. */
  take(): Waiting[] {
    const queue = this.#waiting;
    let text = 0;
    let count = Math.min(queue.length, 1);
    for (const most = Math.min(queue.length, COMMANDS_PER_COMMIT); count < most; count++) {
      for (const command of (queue[count - 1] as Waiting).commands) text += textIn(command);
      if (text >= TEXT_PER_COMMIT) break;
    }
    const taken = queue.splice(0, count);
    for (const waiting of taken) this.#text -= waiting.text ?? 0;
    return taken;
  }

  #measure(waiting: Waiting): boolean {
    const text = waiting.commands.reduce((sum, command) => sum + textIn(command), 0);
    if (this.#text + text > WAITING_TEXT) {
      const mib = Math.round(this.#text / 2 ** 20);
      const message = `The team has ${this.#waiting.length} commands with ${mib} MiB of text waiting: try again in a moment`;
      waiting.reject(new TeamError('overloaded', message));
      return false;
    }
    waiting.text = text;
    this.#text += text;
    return true;
  }
}

/** Roughly how much text a command has: its strings, and a little for the rest. */
function textIn(command: Command): number {
  let size = 100;
  for (const key in command) {
    const value: unknown = command[key as keyof Command];
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null) size += JSON.stringify(value).length;
  }
  return size;
}
