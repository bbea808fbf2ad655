import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { configOf } from './config-file.ts';
import type { ConfigReading } from './config-file.ts';
import { rememberFiles } from './file-memory.ts';
import type { Remembered } from './file-memory.ts';
import { eraOf, nameOf } from './format.ts';
import type { Era, NativeConfig, NativeEntry, NativeTask } from './format.ts';
import { inboxOf } from './inbox-file.ts';
import type { FileReading } from './json-file.ts';
import { isNativeTaskId, isSafeName, isSessionName, listedPaths } from './layout.ts';
import type { NativePaths } from './layout.ts';
import { closedFolders, whyReadOnly } from './read-only.ts';
import type { Closed } from './read-only.ts';
import { taskIds, taskOf } from './task-file.ts';

/** A native team, or the tasks of a session without one, as it is on disk. */
export interface NativeTeam {
  /** The name of its directory. */
  readonly name: string;
  readonly kind: 'team' | 'session';
  /** `unknown` and `unreadable` are shown and never written. */
  readonly form: 'known' | 'unknown' | 'unreadable' | 'no-config';
  /** Why it is shown and never written: a name or link that we don't trust, or an unknown form. */
  readonly readOnly: string | undefined;
  readonly title: string;
  readonly era: Era;
  readonly config: NativeConfig | undefined;
  readonly tasks: ReadonlyMap<string, NativeTask>;
  /** By member. */
  readonly inboxes: ReadonlyMap<string, readonly NativeEntry[]>;
  /** What is unreadable, in words; the last good reading is still shown. */
  readonly problems: readonly string[];
  /** The files that are unreadable now. */
  readonly unreadable: readonly string[];
  /** A file looks half written: look again soon. */
  readonly unsettled: boolean;
  /** When any of its files last changed, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** The directories of teams and of sessions' tasks, including links. Hidden names and locks don't count. */
export function listNative(root: string): string[] {
  const names = new Set([...directories(join(root, 'teams')), ...directories(join(root, 'tasks'))]);
  return [...names].filter((name) => !name.startsWith('.') && !name.endsWith('.lock')).sort();
}

/** The read-only teams, and why. */
export function findReadOnly(root: string): { name: string; why: string }[] {
  return listNative(root).flatMap((name) => {
    const why = readTeam(root, name).look()?.readOnly;
    return why === undefined ? [] : [{ name, why }];
  });
}

const NO_FILE: Remembered = { reading: { kind: 'absent' }, mtime: 0 };

const FORMS = { read: 'known', absent: 'no-config', unknown: 'unknown', unreadable: 'unreadable' } as const;

/** The files of one native team, read repeatedly. */
export interface TeamFiles {
  /** Reads everything, or only the named files; undefined if nothing is left of the team. */
  look(changed?: ReadonlySet<string>): NativeTeam | undefined;
  /** Reports what we wrote ourselves, which need not be read again. */
  wrote(path: string, written: FileReading): void;
}

/**
 * Starts reading a team. An unreadable file is shown as last read, and listed as a problem. A snapshot without any
 * change is the same object as before, and so is every unchanged task and inbox in a new one.
 */
export function readTeam(root: string, name: string): TeamFiles {
  const paths = listedPaths(root, name);
  const memory = rememberFiles();
  const tasks = new Map<string, NativeTask>();
  const inboxes = new Map<string, readonly NativeEntry[]>();
  /** By file: what is unreadable, and what is readable but odd. */
  const problems = new Map<string, { readonly text: string; readonly unsettled: boolean }>();
  const oddities = new Map<string, string>();
  const readings = new Map<string, FileReading>();
  let config: ConfigReading = { kind: 'absent' };
  let closed: Closed = new Map();
  let changedAt = 0;
  let isNew = true;
  let last: NativeTeam | undefined;

  /** Files in a directory that we do not enter don't belong to the team. */
  const isClosed = (folder: string): boolean =>
    closed.has(folder) || (folder === paths.inboxes && closed.has(paths.team));

  /** Reads one file; undefined if it has not changed. */
  const read = (path: string, doubt: boolean, label: string): FileReading | undefined => {
    const { reading, problem, torn = false, mtime } = isClosed(dirname(path)) ? NO_FILE : memory.look(path, { doubt });
    if (mtime > changedAt) {
      changedAt = mtime;
      isNew = true;
    }
    const text = problem === undefined ? undefined : `${label} ${problem}`;
    if (readings.get(path) === reading && problems.get(path)?.text === text) return undefined;
    isNew = true;
    oddities.delete(path);
    if (reading.kind === 'absent') readings.delete(path);
    else readings.set(path, reading);
    if (text === undefined) problems.delete(path);
    else problems.set(path, { text, unsettled: torn });
    return reading;
  };
  const readConfig = (doubt: boolean): void => {
    const reading = read(paths.config, doubt, 'config.json');
    if (!reading) return;
    config = configOf(reading);
    if (config.kind === 'unknown') oddities.set(paths.config, `config.json ${config.problem}`);
  };
  const readInbox = (file: string, doubt: boolean): void => {
    const path = join(paths.inboxes, file);
    const reading = read(path, doubt, `inboxes/${file}`);
    if (!reading) return;
    const member = file.slice(0, -'.json'.length);
    if (reading.kind === 'absent') {
      inboxes.delete(member);
      return;
    }
    const inbox = inboxOf(reading);
    // An inbox that was never read is not empty: its content is unknown.
    if (inbox.kind === 'unreadable') {
      inboxes.delete(member);
      if (reading.kind === 'read') oddities.set(path, `inboxes/${file} ${inbox.problem}`);
      return;
    }
    inboxes.set(member, inbox.entries);
    if (inbox.dropped > 0) {
      oddities.set(path, `inboxes/${file} has ${inbox.dropped} entries that are not messages`);
    }
  };
  const readTask = (id: string, doubt: boolean): void => {
    const path = paths.task(id);
    const reading = read(path, doubt, `task ${id}`);
    if (!reading) return;
    const task = taskOf(reading, id);
    if (task.kind === 'read') tasks.set(id, task.task);
    else tasks.delete(id);
    if (task.kind === 'unknown') oddities.set(path, `task ${id} ${task.problem}`);
  };
  const lookAtAll = (): void => {
    const present = Math.max(mtimeOf(paths.team), mtimeOf(paths.tasks), mtimeOf(paths.inboxes));
    if (present > changedAt) {
      changedAt = present;
      isNew = true;
    }
    const before = closed;
    closed = closedFolders(paths);
    isNew ||= [...closed.values()].join() !== [...before.values()].join();
    readConfig(true);
    const files = new Set(isClosed(paths.inboxes) ? [] : filesIn(paths.inboxes));
    for (const path of [...readings.keys(), ...problems.keys()]) {
      if (dirname(path) === paths.inboxes) files.add(basename(path));
    }
    for (const file of files) readInbox(file, true);
    const ids = new Set(isClosed(paths.tasks) ? [] : taskIds(paths));
    for (const path of readings.keys()) if (dirname(path) === paths.tasks) ids.add(basename(path, '.json'));
    for (const id of ids) readTask(id, true);
  };
  const lookAt = (path: string): void => {
    const id = basename(path, '.json');
    if (path === paths.config) readConfig(false);
    else if (dirname(path) === paths.inboxes && isSafeName(id)) readInbox(basename(path), false);
    else if (dirname(path) === paths.tasks && isNativeTaskId(id)) readTask(id, false);
  };

  return {
    look(changed) {
      if (!changed && !isThere(paths) && !isListed(root, name)) {
        last = undefined;
        return undefined;
      }
      if (changed && last && closed.size === 0) for (const path of changed) lookAt(path);
      else lookAtAll();
      if (last && !isNew) return last;
      isNew = false;
      const found = [...problems.values()];
      const files = found.map(({ text }) => text);
      const form = isClosed(paths.team) ? 'unreadable' : FORMS[config.kind];
      const known = config.kind === 'read' ? config.config : undefined;
      last = {
        name,
        kind: form === 'no-config' && isSessionName(name) ? 'session' : 'team',
        form,
        readOnly: whyReadOnly(paths, { closed, form, files }),
        title: known ? nameOf(known) : name,
        era: eraOf(known, entriesOf(inboxes)),
        config: known,
        tasks: inOrder(tasks),
        inboxes: new Map(inboxes),
        problems: [...files, ...oddities.values()],
        unreadable: [...problems.keys()],
        unsettled: found.some(({ unsettled }) => unsettled),
        changedAt,
      };
      return last;
    },
    wrote: (path, written) => memory.wrote(path, written),
  };
}

/** A name that is not valid UTF-8 gives no path to look at, but the directory exists. */
function isListed(root: string, name: string): boolean {
  return name.includes('\ufffd') && listNative(root).includes(name);
}

function isThere({ team, tasks }: NativePaths): boolean {
  return [team, tasks].some((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

function* entriesOf(inboxes: ReadonlyMap<string, readonly NativeEntry[]>): Generator<NativeEntry> {
  for (const entries of inboxes.values()) yield* entries;
}

/** Sorted by number; nearly always they already are. */
function inOrder(tasks: ReadonlyMap<string, NativeTask>): ReadonlyMap<string, NativeTask> {
  let before = 0;
  for (const id of tasks.keys()) {
    const number = Number(id);
    if (number < before) return new Map([...tasks].sort(([a], [b]) => Number(a) - Number(b)));
    before = number;
  }
  return new Map(tasks);
}

function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() || entry.isSymbolicLink() ? [entry.name] : [],
    );
  } catch {
    return [];
  }
}

function filesIn(path: string): string[] {
  try {
    return readdirSync(path)
      .filter((name) => name.endsWith('.json') && isSafeName(name.slice(0, -5)))
      .sort();
  } catch {
    return [];
  }
}

function mtimeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() ? found.mtimeMs : 0;
}
