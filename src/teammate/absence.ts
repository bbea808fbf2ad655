import { readClocks, since } from '../runtime/hosts/lease.ts';

/** The lease to watch, and what happens when it is over. */
export interface AbsenceOptions {
  /** How long the daemon may be away before others run its members; undefined if no other daemon can. */
  readonly leaseMs: () => number | undefined;
  /** The daemon was away for longer. Called once. */
  readonly onOver: (leaseMs: number) => void;
}

/** How precisely the end of a lease is noticed. Others wait half a lease more, and a lease may be 2 s. */
const LOOK_MS = 100;

/**
 * How long a process may take to reach its daemon for the first time. On a busy machine that can exceed a short lease.
 * Until then it has started no agent, so nothing is done twice.
 */
const START_MS = 60_000;

/**
 * Measures how long a teammate has been without its daemon. A daemon that shares its journal has a lease. When it
 * expires, other machines reassign its members' work, and nothing done here counts any more. A new process that has not
 * reached its daemon yet has at least one minute.
 */
export function watchAbsence({ leaseMs, onOver }: AbsenceOptions) {
  let from = readClocks();
  let wasReached = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const lease = leaseMs();
    if (lease === undefined || since(from) <= (wasReached ? lease : Math.max(lease, START_MS))) return;
    close();
    onOver(lease);
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
