import { lstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { differencesOf } from './differences.ts';
import type { NativeEvent } from './differences.ts';
import { nativePaths } from './layout.ts';
import { checkNativeRoot } from './root.ts';
import { listNative, readTeam } from './snapshot.ts';
import type { FileCache, NativeTeam } from './snapshot.ts';

/** Native teams as they are at this moment, and what happens to them. */
export interface Sight {
  /** Every team, after looking at all of them. */
  list(): NativeTeam[];
  /** One team, after looking at it. */
  team(name: string): NativeTeam | undefined;
  /** Hears what happens; returns the way to stop. */
  subscribe(listener: (event: NativeEvent) => void): () => void;
  /** The events so far, the oldest first; `number` counts from 1 and has no gap until the oldest are forgotten. */
  events(after: number): { number: number; at: number; event: NativeEvent }[];
  /** How many events there were: another number means that something happened. */
  readonly count: number;
  /** Not everything can be watched: changes are then found by the sweep alone. */
  readonly degraded: boolean;
  close(): void;
}

/** How long several changes may become one look. */
const SETTLE_MS = 30;

/** Watching is a hint, which may get lost without a word; this is the truth. */
const SWEEP_MS = 3_000;

/** Above it the rest is found by the sweep. A native user has some dozens. */
const WATCHED_DIRECTORIES = 1_000;

const REMEMBERED_EVENTS = 1_000;

/** Begins to look at a root. Only directories are watched: a watch on a file ends when the file is replaced. */
export function openSight(root: string, options: { sweep?: number; onError?: (error: unknown) => void } = {}): Sight {
  const caches = new Map<string, FileCache>();
  const teams = new Map<string, NativeTeam>();
  const listeners = new Set<(event: NativeEvent) => void>();
  const remembered: { number: number; at: number; event: NativeEvent }[] = [];
  const watches = new Map<string, { watcher: FSWatcher; ino: bigint }>();
  const due = new Set<string>();
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

  const look = (name: string): NativeTeam | undefined => {
    const cache = caches.get(name) ?? new Map();
    caches.set(name, cache);
    const before = teams.get(name);
    const after = readTeam(root, name, cache);
    if (after) teams.set(name, after);
    else {
      teams.delete(name);
      caches.delete(name);
    }
    for (const event of differencesOf(before, after)) tell(event);
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

  /** Looks soon at what changed; a name that is none stands for all. */
  const plan = (name: string): void => {
    due.add(name);
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      const names = [...due];
      due.clear();
      attempt(() => {
        if (names.includes('')) sweep();
        else if (checkNativeRoot(root)) for (const one of names) look(one);
      });
    }, SETTLE_MS);
    timer.unref();
  };

  /** Watches what is there; a directory that was replaced is another one and is watched anew. */
  const arm = (names: readonly string[]): void => {
    const wanted = new Map<string, string>([
      [root, ''],
      [join(root, 'teams'), ''],
      [join(root, 'tasks'), ''],
    ]);
    for (const name of names) {
      const paths = nativePaths(root, name);
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
        // What is directly in the root is of no interest but for the two directories.
        const watcher = watch(path, { persistent: false }, (_event, file) => {
          if (path !== root || file === 'teams' || file === 'tasks') plan(name);
        });
        watcher.on('error', () => {
          watcher.close();
          watches.delete(path);
        });
        watches.set(path, { watcher, ino });
      } catch {
        // No more watches on this machine: the sweep goes on.
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
