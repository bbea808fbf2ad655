import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { configOf } from './config-file.ts';
import { eraOf, nameOf } from './format.ts';
import type { Era, NativeConfig, NativeEntry, NativeTask } from './format.ts';
import { inboxOf } from './inbox-file.ts';
import { readNow } from './json-file.ts';
import type { FileReading } from './json-file.ts';
import { isSafeName, isSessionName, nativePaths } from './layout.ts';
import { taskIds, taskOf } from './task-file.ts';

/** A native team, or the tasks of a session without one, as it is on disk. */
export interface NativeTeam {
  /** The name of its directory. */
  readonly name: string;
  readonly kind: 'team' | 'session';
  /** `unknown` and `unreadable` are shown and never written. */
  readonly form: 'known' | 'unknown' | 'unreadable' | 'no-config';
  readonly title: string;
  readonly era: Era;
  readonly config: NativeConfig | undefined;
  readonly tasks: ReadonlyMap<string, NativeTask>;
  /** By member. */
  readonly inboxes: ReadonlyMap<string, readonly NativeEntry[]>;
  /** What could not be read, in words; where there was something before, that is still shown. */
  readonly problems: readonly string[];
  /** A file looks half written: look again soon. */
  readonly unsettled: boolean;
  /** When any of its files last changed, milliseconds since 1970. */
  readonly changedAt: number;
}

/** What was last read of a file, so that only what changed is read again. */
export type FileCache = Map<string, { readonly print: string; readonly reading: FileReading; readonly mtime: number }>;

/** The directories of teams and of sessions' tasks that there are. */
export function listNative(root: string): string[] {
  const names = new Set([...directories(join(root, 'teams')), ...directories(join(root, 'tasks'))]);
  return [...names].filter(isSafeName).sort();
}

/** Reads one team. What cannot be read now is shown as it was last read, and named as a problem. */
export function readTeam(root: string, name: string, cache: FileCache): NativeTeam | undefined {
  const paths = nativePaths(root, name);
  const problems: string[] = [];
  let unsettled = false;
  let changedAt = Math.max(mtimeOf(paths.team), mtimeOf(paths.tasks), mtimeOf(paths.inboxes));
  if (changedAt === 0) return undefined;

  const read = (path: string, label: string): FileReading => {
    const { reading, problem, mtime } = readCached(path, cache);
    changedAt = Math.max(changedAt, mtime);
    if (problem !== undefined) {
      unsettled ||= /empty|whole JSON/.test(problem);
      problems.push(`${label} ${problem}`);
    }
    return reading;
  };
  const config = configOf(read(paths.config, 'config.json'));
  if (config.kind === 'unknown') problems.push(`config.json ${config.problem}`);

  const inboxes = new Map<string, readonly NativeEntry[]>();
  for (const file of filesIn(paths.inboxes)) {
    const member = file.slice(0, -'.json'.length);
    const inbox = inboxOf(read(join(paths.inboxes, file), `inboxes/${file}`));
    inboxes.set(member, inbox.kind === 'read' ? inbox.entries : []);
    if (inbox.kind === 'read' && inbox.dropped > 0) {
      problems.push(`inboxes/${file} has ${inbox.dropped} entries that are no messages`);
    }
  }
  const tasks = new Map<string, NativeTask>();
  for (const id of taskIds(paths)) {
    const task = taskOf(read(paths.task(id), `task ${id}`), id);
    if (task.kind === 'read') tasks.set(id, task.task);
    if (task.kind === 'unknown') problems.push(`task ${id} ${task.problem}`);
  }
  const form = config.kind === 'read' ? 'known' : config.kind === 'absent' ? 'no-config' : config.kind;
  const known = config.kind === 'read' ? config.config : undefined;
  return {
    name,
    kind: form === 'no-config' && isSessionName(name) ? 'session' : 'team',
    form,
    title: known ? nameOf(known) : name,
    era: eraOf(known, [...inboxes.values()].flat()),
    config: known,
    tasks,
    inboxes,
    problems,
    unsettled,
    changedAt,
  };
}

/** What stands in a file, read again only if it is another or changed; a good reading is not forgotten for a bad one. */
function readCached(path: string, cache: FileCache): { reading: FileReading; problem?: string; mtime: number } {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!found) {
    cache.delete(path);
    return { reading: { kind: 'absent' }, mtime: 0 };
  }
  const before = cache.get(path);
  const print = `${found.ino}-${found.size}-${found.mtimeNs}`;
  if (before?.print === print) return before;
  const reading = readNow(path);
  const mtime = Number(found.mtimeMs);
  if (reading.kind === 'unreadable') {
    const good = before?.reading.kind === 'read' ? before.reading : reading;
    const kept = good === reading ? '' : '; shown as it was before';
    return { reading: good, problem: `${reading.problem}${kept}`, mtime };
  }
  if (reading.kind === 'read') cache.set(path, { print: reading.print, reading, mtime });
  return { reading, mtime };
}

function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
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
