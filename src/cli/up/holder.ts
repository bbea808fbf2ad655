import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from '../../client/process.ts';

/** Which of several `troupe up` of one team ends its members with itself; the others look on. */
export interface Holder {
  /** Whether that is us. Who holds a team may have been killed: whoever asks next has it then. */
  isUs(): boolean;
  /** Lets go of what we hold. */
  release(): void;
}

type Identity = ReturnType<typeof identify>;

/**
 * Says who holds a team, in a file of the state directory: the first that asks, for as long as its process runs. Where
 * nothing can be written, each holds it: a team that two can end is better than one that nobody can.
 */
export function openHolder(folder: string, teamId: string): Holder {
  const path = join(folder, encodeURIComponent(teamId));
  const us = identify(process.pid);
  return {
    isUs() {
      try {
        // Twice: once to find that its holder is gone, and once without it.
        return take(path, us) || take(path, us);
      } catch {
        return true;
      }
    },
    release() {
      const holder = read(path);
      if (holder && isSame(holder, us)) rmSync(path, { force: true });
    },
  };
}

function take(path: string, us: Identity): boolean {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  // Linked, it is there with all that is in it or not at all.
  const draft = `${path}.${us.pid}`;
  writeFileSync(draft, JSON.stringify(us), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const holder = read(path);
  if (holder && isSame(holder, us)) return true;
  if (!holder || !isRunning(holder)) rmSync(path, { force: true });
  return false;
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
