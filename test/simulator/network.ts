import { TeamError } from '../../src/core/errors.ts';
import { scheduler } from './scheduler.ts';
import type { Owner } from './scheduler.ts';

/** How long a caller waits for an answer, in milliseconds. */
const ANSWER_MS = 2_000;

/** The connections between machines, and to the store. */
export class Network {
  /** Machines that reach nothing outside of themselves. */
  readonly parted = new Set<string>();
  /** The probability that a message is lost. */
  loss = 0;
  /** The probability that a request arrives a second time. */
  repeats = 0;
  /** The longest time that a message between machines takes, in milliseconds. */
  slowest = 5;
  /** The longest time on a machine that has too much to do. */
  readonly busy = new Map<string, number>();

  #reaches(from: string, to: string): boolean {
    if (from === to) return true;
    return !this.parted.has(from) && !this.parted.has(to) && !scheduler.random('network').chance(this.loss);
  }

  /** How long a part of a connection takes, in milliseconds; undefined if it has to be sent again. */
  delay(from: Owner, to: Owner): number | undefined {
    if (!this.#reaches(from.machine, to.machine)) return undefined;
    return scheduler.random('network').between(0.05, this.slowest);
  }

  /** Delivers a message later, if the way is open when it is sent. */
  send(from: Owner, to: Owner, deliver: () => void): void {
    // A process that was killed in the middle of its work sends nothing more.
    if (!from.isAlive || !this.#reaches(from.machine, to.machine)) return;
    const most = from.machine === to.machine ? (this.busy.get(to.machine) ?? 0.5) : this.slowest;
    scheduler.plan(scheduler.random('network').between(0.05, most), deliver, to);
  }

  /**
   * Asks another one. Rejects with `storage` if no answer comes in time: whether the work was done is unknown then. A
   * caller that dies meanwhile hears nothing.
   */
  ask<T>(to: Owner, work: () => Promise<T>, timeoutMs = ANSWER_MS): Promise<T> {
    const from = scheduler.owner();
    return new Promise((resolve, reject) => {
      const late = scheduler.plan(timeoutMs, () => reject(noAnswer(to)), from);
      const answer = (tell: () => void): void =>
        this.send(to, from, () => {
          late.isOff = true;
          tell();
        });
      const arrive = (): void => {
        work().then(
          (value) => answer(() => resolve(value)),
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- It is passed on as it is.
          (error: unknown) => answer(() => reject(error)),
        );
      };
      this.send(from, to, arrive);
      if (scheduler.random('network').chance(this.repeats)) this.send(from, to, arrive);
    });
  }
}

function noAnswer({ name }: Owner): TeamError {
  return new TeamError('storage', `No answer from ${name}: it is unknown whether it was done`);
}
