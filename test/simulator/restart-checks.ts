import { USER } from '../../src/core/actor.ts';
import type { EventOf } from '../../src/core/event.ts';
import type { TeamState } from '../../src/core/state.ts';
import { scheduler } from './scheduler.ts';

const MINUTE_MS = 60_000;
const NIGHT_MS = 12 * 60 * MINUTE_MS;

/** How often a member that crashes is restarted: the promise, in numbers of its own. */
const PER_MINUTE = 3;
const PER_NIGHT = 20;

/** What the journal says of a stop that is no crash: a person restarts the member, or its machine is gone. */
const NO_CRASH = /^(started again|its machine .* is gone)$/;

/** Members that crash are restarted, but not without end. */
export class RestartChecks {
  readonly #state: TeamState;
  readonly #require: (holds: boolean, message: string) => void;
  /** When each member crashed and was to return, by the clock of its daemon. */
  readonly #crashes = new Map<string, number[]>();
  /** When processes of each member began since something last called for a new one. */
  readonly #begun = new Map<string, number[]>();

  constructor(state: TeamState, require: (holds: boolean, message: string) => void) {
    this.#state = state;
    this.#require = require;
  }

  /** A member joins; the state does not say so yet. */
  joined({ memberId, by }: EventOf<'teammate:joined'>): void {
    this.#begun.delete(memberId);
    // A person who starts a member that was given up has looked at it.
    if (by === USER && this.#state.members.get(memberId)?.returning !== true) this.#crashes.delete(memberId);
  }

  stopped({ memberId, at, reason = '', returning }: EventOf<'teammate:stopped'>): void {
    if (returning !== true || NO_CRASH.test(reason)) return;
    const times = [...(this.#crashes.get(memberId) ?? []), at];
    this.#crashes.set(memberId, times);
    for (const [most, ms, within] of [
      [PER_MINUTE, MINUTE_MS, 'a minute'],
      [PER_NIGHT, NIGHT_MS, '12 hours'],
    ] as const) {
      const recent = times.filter((before) => at - before < ms).length;
      this.#require(recent <= most, `${memberId} is restarted ${recent} times within ${within}`);
    }
  }

  /** Whatever runs may have to run again: a daemon starts, or the lead changes. */
  renewed(): void {
    this.#begun.clear();
  }

  /**
   * A process of a member begins. The journal has to know of each new try, or nobody could limit them. Only a restart
   * for a new lead and one that a person wants may meet.
   */
  began(memberId: string): void {
    const times = [...(this.#begun.get(memberId) ?? []), scheduler.now];
    this.#begun.set(memberId, times);
    this.#require(times.length <= PER_MINUTE, `${memberId} is started ${times.length} times, and joined once`);
  }
}
