import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from '../../../agents/process.ts';

/** Decides which of several `troupe up` of one team stops its members when it ends; the others only watch. */
export interface Holder {
  /** Whether this process holds the team. If the holder was killed, the next caller takes over. */
  isUs(): boolean;
  /** Releases the team if we hold it. */
  release(): void;
}

type Identity = ReturnType<typeof identify>;

/**
 * Records the holder of a team in files of the state directory: the first process that asks, for as long as it runs. If
 * nothing can be written, everyone is a holder: a team that two can stop is better than one that nobody can.
 *
 * Each holder has a turn, a file `TEAM.3` that exactly one process creates, and the highest turn counts. So of many
 * processes that find the holder dead, one creates the next turn. With a single file that is removed and created again,
 * one process removed it just after another had created it.
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
      // The file stays, empty. Without it, turns would start from 1 again, but not for processes that looked before.
      if (holder && isSame(holder, us)) truncateSync(turnPath(base, turn));
    },
  };
}

/** Others may be faster than us, but not for ever. */
const TRIES = 1_000;

function take(folder: string, base: string, us: Identity): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let i = 0; i < TRIES; i++) {
    const turn = lastTurn(folder, base);
    const holder = read(turnPath(base, turn));
    if (holder && isSame(holder, us)) return true;
    if (holder && isRunning(holder)) return false;
    if (!begin(base, turn + 1, us)) continue;
    // A listing may miss files that are created meanwhile. We are last only if a listing after our own shows none.
    if (lastTurn(folder, base) === turn + 1) {
      for (const before of turnsOf(folder, base)) if (before <= turn) rmSync(turnPath(base, before), { force: true });
      return true;
    }
    rmSync(turnPath(base, turn + 1), { force: true });
  }
  throw new Error('Others take turns all the time');
}

/** Creates a turn, unless somebody was faster. The link makes the file appear with its whole content. */
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
