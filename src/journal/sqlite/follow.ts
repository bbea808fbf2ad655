import { closeSync, constants, fstatSync, openSync, watch, writeSync } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** Without a bell (no watches left, a file system without them) polling alone must be quick enough. */
const POLL_WITHOUT_BELL_MS = 40;

/**
 * Wakes those who follow a team after commits: of this process directly, of others by a bell. The bell is a file beside the
 * database into which every process writes a byte after its commits and which those who follow watch: 2 us to ring, heard
 * some 1 ms later. Watching the log instead runs one commit late: it is written before the commit counts. Below the bell there is
 * a net, a look every `pollMs`: a notification can get lost.
 */
export function openFollowers(
  db: DatabaseSync,
  path: string,
  { exclusive, pollMs }: { exclusive: boolean; pollMs: number },
) {
  const followers = new Map<string, Set<() => void>>();
  const readVersion = versionOf(db);
  let bell = openBell(`${path}.bell`);
  const strike = Buffer.from('!');
  let watcher: FSWatcher | undefined;
  let poll: NodeJS.Timeout | undefined;
  let seen: unknown;
  /** What was committed since the last ringing: one for all commits of a turn. */
  const changed = new Set<string>();
  let announcing = false;
  let closed = false;

  function lookForOthers(): void {
    const version = readVersion();
    if (version === seen && version !== undefined) return;
    seen = version;
    wakeAll();
  }

  function wakeAll(): void {
    for (const team of followers.keys()) wake(team);
  }

  function wake(team: string): void {
    for (const follower of followers.get(team) ?? []) follower();
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
    // Removing the file is heard as well.
    if (bell !== undefined && fstatSync(bell).nlink === 0) {
      renewBell();
      wakeAll();
    } else lookForOthers();
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
      // Who follows hears that the file was removed and makes another; to look costs as much as to ring, 2 us.
      if (bell !== undefined && fstatSync(bell).nlink === 0) renewBell();
      if (bell !== undefined) writeSync(bell, strike, 0, 1, 0);
    } catch {
      // A full disk: the commit counts all the same, and others find it when they poll.
    }
  }

  /** A bell that others cannot find is of no use. */
  function renewBell(): void {
    if (bell !== undefined) closeSync(bell);
    bell = openBell(`${path}.bell`);
    if (followers.size === 0) return;
    stopWatching();
    startWatching();
  }

  function tellEveryone(): void {
    if (closed || !announcing) return;
    announcing = false;
    const teams = [...changed];
    changed.clear();
    for (const team of teams) wake(team);
    if (!exclusive) ring();
  }

  return {
    /** Calls `follower` after commits that may concern the team, until the returned function is called. */
    listen(team: string, follower: () => void): () => void {
      if (followers.size === 0) startWatching();
      const set = followers.get(team) ?? new Set();
      followers.set(team, set.add(follower));
      return () => {
        set.delete(follower);
        if (set.size === 0 && followers.get(team) === set) followers.delete(team);
        if (followers.size === 0) stopWatching();
      };
    },

    /** Tells everyone that this process changed the team, when this turn of the event loop is over. */
    announce(team: string): void {
      if (followers.size > 0) changed.add(team);
      // A turn of the event loop and a write for each commit, where nobody could hear it.
      else if (exclusive) return;
      if (announcing) return;
      announcing = true;
      setImmediate(tellEveryone);
    },

    /** Wakes everyone for the last time. */
    close(): void {
      tellEveryone();
      closed = true;
      stopWatching();
      wakeAll();
      if (bell !== undefined) closeSync(bell);
    },
  };
}

/** What changes when another connection has committed; own commits, whose ringing is heard too, leave it as it was. */
export function versionOf(db: DatabaseSync): () => unknown {
  const dataVersion = db.prepare('PRAGMA data_version');
  return () => {
    try {
      return dataVersion.get()?.['data_version'];
    } catch {
      // Whoever reads next meets the same trouble and reports it.
      return undefined;
    }
  };
}

/** The bell, or undefined where it cannot be written: whoever cannot write has nothing to announce. */
function openBell(path: string): number | undefined {
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  try {
    return openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
  } catch {
    return undefined;
  }
}
