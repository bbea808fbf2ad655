import { readClocks, since } from '../runtime/hosts/lease.ts';

/** The lease to watch, and what happens when it is over. */
export interface AbsenceOptions {
  /** The lease of the daemon; undefined if no other daemon can run its members. */
  readonly leaseMs: () => number | undefined;
  /** The daemon was away for so long that others may soon run its members. Called once. */
  readonly onOver: (awayMs: number) => void;
}

/**
 * A process ends after this part of a lease without its daemon. Others may run its member once the daemon's card has
 * expired, which is after two thirds of a lease at the earliest, because a card is renewed after each third.
 */
const SHARE = 0.5;

/** How precisely the end is noticed. A lease may be 2 s. */
const LOOK_MS = 100;

/**
 * How long a process may take to reach its daemon for the first time. On a busy machine that can exceed a short lease.
 * Until then it has started no agent, so nothing is done twice.
 */
const START_MS = 60_000;

/**
 * Measures how long a teammate has been without its daemon. A daemon that shares its journal has a lease. When it
 * expires, other machines reassign its members' work, and nothing done here counts any more. So a process ends before
 * that. A new one that has not reached its daemon yet has at least one minute.
 */
export function watchAbsence({ leaseMs, onOver }: AbsenceOptions) {
  let from = readClocks();
  let wasReached = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const lease = leaseMs();
    if (lease === undefined) return;
    const longest = wasReached ? lease * SHARE : Math.max(lease, START_MS);
    if (since(from) <= longest) return;
    close();
    onOver(longest);
  }

  function begin(): void {
    if (timer !== undefined) return;
    from = readClocks();
    timer = setInterval(look, LOOK_MS);
  }

  function close(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Reports whether the daemon is reachable. */
    tell(isReached: boolean): void {
      wasReached ||= isReached;
      if (isReached) close();
      else begin();
    },
    close,
  };
}
