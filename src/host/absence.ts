import { readClocks, since } from '../runtime/hosts/lease.ts';

/** Whose absence is watched, and what becomes of it. */
export interface AbsenceOptions {
  /** How long the daemon may be away before others may run its members; undefined where no other daemon can. */
  readonly leaseMs: () => number | undefined;
  /** It was away for longer. Said once. */
  readonly onOver: (leaseMs: number) => void;
}

/** How closely the end of a lease is met. Others wait for half a lease more, and a lease may be 2 s. */
const LOOK_MS = 100;

/**
 * How long a process may take to reach its daemon for the first time. On a busy machine that can be longer than a short lease, and until
 * then it has started no agent: nothing is done twice.
 */
const START_MS = 60_000;

/**
 * Watches how long a teammate has been without its daemon. A daemon that shares its journal has a lease; when that is over
 * other machines give its members' work to others, and nothing that is still done here counts. A process that has just been started, and
 * has not reached its daemon yet, has a minute at least.
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
    /** The daemon is there, or is not. */
    tell(isReached: boolean): void {
      wasReached ||= isReached;
      if (isReached) close();
      else begin();
    },
    close,
  };
}
