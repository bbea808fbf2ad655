import { lstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { differencesOf } from './differences.ts';
import type { NativeEvent } from './differences.ts';
import type { FileReading } from './json-file.ts';
import { listedPaths } from './layout.ts';
import { checkNativeRoot } from './root.ts';
import { listNative, readTeam } from './snapshot.ts';
import type { NativeTeam, TeamFiles } from './snapshot.ts';

/** The native teams as they are now, and their changes. */
export interface Sight {
  /** All teams, after reading all of them. */
  list(): NativeTeam[];
  /** One team, after reading all of it. */
  team(name: string): NativeTeam | undefined;
  /**
   * One team, after reading only the files known to have changed: reading a thousand files for one change is too slow.
   */
  glance(name: string): NativeTeam | undefined;
  /** Reports a file that we wrote. It need not be read, and the next snapshot has it even before a notification. */
  wrote(name: string, path: string, written: FileReading): void;
  /** Calls the listener with every change; returns the way to stop. */
  subscribe(listener: (event: NativeEvent) => void): () => void;
  /** The events after a number, oldest first. Numbers start at 1 and have no gap until the oldest are forgotten. */
  events(after: number): { number: number; at: number; event: NativeEvent }[];
  /** The number of events so far: another number means that something happened. */
  readonly count: number;
  /** Not everything can be watched, so some changes are found only by the sweep. */
  readonly degraded: boolean;
  close(): void;
}

/** Changes within this time become one look. */
const SETTLE_MS = 30;

/** Watching is only a hint and may miss changes silently; the sweep finds them all. */
const SWEEP_MS = 3_000;

/** Above this number of watches, only the sweep finds changes. A native user has some dozens. */
const WATCHED_DIRECTORIES = 1_000;

const REMEMBERED_EVENTS = 1_000;

/** Temporary names beside the files: locks, and files about to be renamed. */
const PASSING = /\.lock$|\.lock\.|\.tmp\.|^\.highwatermark/;

/** Starts watching a root. Watches only directories: a watch on a file ends when the file is replaced. */
export function openSight(root: string, options: { sweep?: number; onError?: (error: unknown) => void } = {}): Sight {
  const files = new Map<string, TeamFiles>();
  const teams = new Map<string, NativeTeam>();
  const listeners = new Set<(event: NativeEvent) => void>();
  const remembered: { number: number; at: number; event: NativeEvent }[] = [];
  const watches = new Map<string, { watcher: FSWatcher; ino: bigint }>();
  /** The changed files by team; undefined means all of them. The team '' means every team. */
  const due = new Map<string, Set<string> | undefined>();
  let count = 0;
  let degraded = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const tell = (event: NativeEvent): void => {
    remembered.push({ number: ++count, at: Date.now(), event });
    if (remembered.length > REMEMBERED_EVENTS) remembered.shift();
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        options.onError?.(error);
      }
    }
  };

  const look = (name: string, changed?: ReadonlySet<string>): NativeTeam | undefined => {
    const known = files.get(name) ?? readTeam(root, name);
    files.set(name, known);
    const before = teams.get(name);
    const after = known.look(changed);
    if (!changed || due.get(name) === changed) due.delete(name);
    if (after) teams.set(name, after);
    else {
      teams.delete(name);
      files.delete(name);
    }
    if (before !== after) for (const event of differencesOf(before, after)) tell(event);
    if (after?.unsettled) plan(name);
    return after;
  };

  const sweep = (): NativeTeam[] => {
    if (!checkNativeRoot(root)) {
      for (const name of teams.keys()) look(name);
      return [];
    }
    const names = listNative(root);
    for (const name of [...teams.keys()].filter((one) => !names.includes(one))) look(name);
    const found = names.flatMap((name) => look(name) ?? []);
    arm(names);
    return found;
  };

  /** Notes a change: one file of a team, all of them, or with the name '' everything. */
  const note = (name: string, file?: string): void => {
    const known = due.get(name);
    if (file === undefined) due.set(name, undefined);
    else if (known) known.add(file);
    else if (!due.has(name)) due.set(name, new Set([file]));
  };

  /** Plans a look at a change. */
  const plan = (name: string, file?: string): void => {
    note(name, file);
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      attempt(lookAtDue);
    }, SETTLE_MS);
    timer.unref();
  };

  const lookAtDue = (): void => {
    const now = [...due];
    if (due.has('')) {
      due.clear();
      sweep();
    } else if (checkNativeRoot(root)) {
      for (const [name, changed] of now) look(name, changed);
      // A whole team was read because its directory changed, so it may have new directories inside.
      if (now.some(([, changed]) => !changed)) arm(listNative(root));
    }
  };

  /** Watches the existing directories; a replaced directory is watched again. */
  const arm = (names: readonly string[]): void => {
    const wanted = new Map<string, string>([
      [root, ''],
      [join(root, 'teams'), ''],
      [join(root, 'tasks'), ''],
    ]);
    for (const name of names) {
      const paths = listedPaths(root, name);
      for (const path of [paths.team, paths.inboxes, paths.tasks]) wanted.set(path, name);
    }
    for (const [path, { watcher, ino }] of watches) {
      if (wanted.has(path) && inoOf(path) === ino) continue;
      watcher.close();
      watches.delete(path);
    }
    degraded = false;
    for (const [path, name] of wanted) {
      if (watches.has(path)) continue;
      const ino = inoOf(path);
      if (ino === undefined) continue;
      if (watches.size >= WATCHED_DIRECTORIES) {
        degraded = true;
        return;
      }
      try {
        // In the root itself, only the two directories matter.
        const watcher = watch(path, { persistent: false }, (_event, file) => {
          if (path === root && file !== 'teams' && file !== 'tasks') return;
          if (file === null || name === '') plan(name);
          else if (file.endsWith('.json')) plan(name, join(path, file));
          else if (!PASSING.test(file)) plan(name);
        });
        watcher.on('error', () => {
          watcher.close();
          watches.delete(path);
        });
        watches.set(path, { watcher, ino });
      } catch {
        // No more watches on this machine: the sweep remains.
        degraded = true;
      }
    }
  };

  const attempt = (work: () => unknown): void => {
    try {
      work();
    } catch (error) {
      options.onError?.(error);
    }
  };

  const sweeper = setInterval(() => attempt(sweep), options.sweep ?? SWEEP_MS);
  sweeper.unref();
  attempt(sweep);
  return {
    list: sweep,
    team(name) {
      return checkNativeRoot(root) ? look(name) : undefined;
    },
    glance(name) {
      if (!teams.has(name) || due.has('')) return checkNativeRoot(root) ? look(name) : undefined;
      if (!due.has(name)) return teams.get(name);
      return checkNativeRoot(root) ? look(name, due.get(name)) : undefined;
    },
    wrote(name, path, written) {
      files.get(name)?.wrote(path, written);
      note(name, path);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    events: (after) => remembered.filter(({ number }) => number > after),
    get count() {
      return count;
    },
    get degraded() {
      return degraded;
    },
    close() {
      closed = true;
      clearInterval(sweeper);
      clearTimeout(timer);
      for (const { watcher } of watches.values()) watcher.close();
      watches.clear();
      listeners.clear();
    },
  };
}

function inoOf(path: string): bigint | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() ? found.ino : undefined;
}
