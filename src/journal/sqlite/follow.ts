import { closeSync, constants, fstatSync, openSync, watch, writeSync } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openListeners } from '../listeners.ts';

/** Without a bell (no watches left, or a file system without them), polling alone must be fast enough. */
const POLL_WITHOUT_BELL_MS = 40;

/**
 * Wakes followers of a team after commits: those of this process directly, those of other processes by a bell. The bell
 * is a file beside the database. Every process writes a byte into it after its commits, and followers watch it: 2 us to
 * ring, heard about 1 ms later. Watching the log instead would be one commit late, because it is written before the
 * commit counts. As a fallback, followers poll every `pollMs`, because a notification can get lost.
 */
export function openFollowers(
  db: DatabaseSync,
  path: string,
  { exclusive, pollMs }: { exclusive: boolean; pollMs: number },
) {
  const followers = openListeners();
  const readVersion = versionOf(db);
  let bell = openBell(`${path}.bell`);
  const strike = Buffer.from('!');
  let watcher: FSWatcher | undefined;
  let poll: NodeJS.Timeout | undefined;
  let seen: unknown;
  /** Teams committed since the bell last rang: it rings once for all commits of a turn. */
  const changed = new Set<string>();
  let announcing = false;

  function lookForOthers(): void {
    const version = readVersion();
    if (version === seen && version !== undefined) return;
    seen = version;
    followers.wakeAll();
  }

  function startWatching(): void {
    try {
      if (bell === undefined) throw new Error('There is no bell to watch.');
      watcher = watch(`${path}.bell`, hearBell);
      watcher.on('error', pollOnly);
      poll = setInterval(lookForOthers, pollMs);
    } catch {
      pollOnly();
    }
    seen = readVersion();
  }

  function hearBell(): void {
    // The watch also reports that the file was removed.
    if (renewBell()) followers.wakeAll();
    else lookForOthers();
  }

  function pollOnly(): void {
    stopWatching();
    poll = setInterval(lookForOthers, POLL_WITHOUT_BELL_MS);
  }

  function stopWatching(): void {
    watcher?.close();
    watcher = undefined;
    clearInterval(poll);
  }

  function ring(): void {
    try {
      // Followers notice that the file was removed and create another; checking costs as much as ringing, 2 us.
      renewBell();
      if (bell !== undefined) writeSync(bell, strike, 0, 1, 0);
    } catch {
      // A full disk: the commit still counts, and others find it by polling.
    }
  }

  /** Opens a new bell if this one was removed, because others cannot find a removed file. Returns whether it was. */
  function renewBell(): boolean {
    if (bell === undefined || fstatSync(bell).nlink > 0) return false;
    closeSync(bell);
    bell = openBell(`${path}.bell`);
    if (followers.size > 0) {
      stopWatching();
      startWatching();
    }
    return true;
  }

  function tellEveryone(): void {
    if (!announcing) return;
    announcing = false;
    const teams = [...changed];
    changed.clear();
    for (const team of teams) followers.wake(team);
    if (!exclusive) ring();
  }

  return {
    /** Calls `follower` after commits that may concern the team, until the returned function is called. */
    listen(team: string, follower: () => void): () => void {
      if (followers.size === 0) startWatching();
      const stop = followers.listen(team, follower);
      return () => {
        stop();
        if (followers.size === 0) stopWatching();
      };
    },

    /** Tells all followers that this process changed the team, at the end of this turn of the event loop. */
    announce(team: string): void {
      if (followers.size > 0) changed.add(team);
      // Saves a turn and a write per commit when nobody could hear the bell.
      else if (exclusive) return;
      if (announcing) return;
      announcing = true;
      setImmediate(tellEveryone);
    },

    /** Wakes all followers for the last time. */
    close(): void {
      tellEveryone();
      stopWatching();
      followers.wakeAll();
      if (bell !== undefined) closeSync(bell);
    },
  };
}

/** A number that changes when another connection commits. Our own commits, whose bell we hear too, do not change it. */
export function versionOf(db: DatabaseSync): () => unknown {
  const dataVersion = db.prepare('PRAGMA data_version');
  return () => {
    try {
      return dataVersion.get()?.['data_version'];
    } catch {
      // The next reader gets the same error and reports it.
      return undefined;
    }
  };
}

/** The bell, or undefined if it cannot be written: a process that cannot write has nothing to announce. */
function openBell(path: string): number | undefined {
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  try {
    return openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
  } catch {
    return undefined;
  }
}
