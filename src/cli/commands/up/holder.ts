import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from '../../../agents/process.ts';

/** Which of several `troupe up` of one team ends its members with itself; the others look on. */
export interface Holder {
  /** Whether that is us. Who holds a team may have been killed: whoever asks next has it then. */
  isUs(): boolean;
  /** Lets go of what we hold. */
  release(): void;
}

type Identity = ReturnType<typeof identify>;

/**
 * Says who holds a team, in files of the state directory: the first that asks, for as long as its process runs. Where
 * nothing can be written, each holds it: a team that two can end is better than one that nobody can.
 *
 * Each holder has a turn, a file `TEAM.3` that is made once and by one, and the last turn counts. So of many that find the
 * holder dead, one makes the next; a file in one place, removed and made anew, was removed by one just after another made it.
 */
export function openHolder(folder: string, teamId: string): Holder {
  const base = join(folder, encodeURIComponent(teamId));
  const us = identify(process.pid);
  return {
    isUs() {
      try {
        return take(folder, base, us);
      } catch {
        return true;
      }
    },
    release() {
      const turn = lastTurn(folder, base);
      const holder = read(turnPath(base, turn));
      // It stays, empty: without it the turns would begin anew for some, and not for those who have looked before.
      if (holder && isSame(holder, us)) truncateSync(turnPath(base, turn));
    },
  };
}

/** Many may be faster than us, but not for ever. */
const TRIES = 1_000;

function take(folder: string, base: string, us: Identity): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let i = 0; i < TRIES; i++) {
    const turn = lastTurn(folder, base);
    const holder = read(turnPath(base, turn));
    if (holder && isSame(holder, us)) return true;
    if (holder && isRunning(holder)) return false;
    if (!begin(base, turn + 1, us)) continue;
    // A look may miss what is made while it lasts: only who finds none after its own is the last.
    if (lastTurn(folder, base) === turn + 1) {
      for (const before of turnsOf(folder, base)) if (before <= turn) rmSync(turnPath(base, before), { force: true });
      return true;
    }
    rmSync(turnPath(base, turn + 1), { force: true });
  }
  throw new Error('Others take turns all the time');
}

/** Makes a turn, unless somebody was faster. Linked, it is there with all that is in it or not at all. */
function begin(base: string, turn: number, us: Identity): boolean {
  const draft = `${base}.draft-${us.pid}`;
  writeFileSync(draft, JSON.stringify(us), { mode: 0o600 });
  try {
    linkSync(draft, turnPath(base, turn));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function lastTurn(folder: string, base: string): number {
  return Math.max(0, ...turnsOf(folder, base));
}

function turnsOf(folder: string, base: string): number[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => path.startsWith(`${base}.`) && /^\d+$/.test(path.slice(base.length + 1)))
    .map((path) => Number(path.slice(base.length + 1)));
}

function turnPath(base: string, turn: number): string {
  return `${base}.${turn}`;
}

function isSame(one: Identity, other: Identity): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.bootId === other.bootId;
}

function read(path: string): Identity | undefined {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Partial<Identity>;
    return typeof holder.pid === 'number' ? (holder as Identity) : undefined;
  } catch {
    return undefined;
  }
}
