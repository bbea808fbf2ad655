import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { NativeTask, orderTask } from './format.ts';
import { readNow, readSettled, replaceFile, writeWhole } from './json-file.ts';
import type { FileReading } from './json-file.ts';
import { isNativeTaskId } from './layout.ts';
import type { NativePaths } from './layout.ts';
import { underLock } from './lock.ts';
import type { LockOptions } from './lock.ts';
import { move } from './move.ts';
import { checkFolderOf, makeFile, makeFolder } from './root.ts';

/** A task file. `unknown` is JSON of a form that we don't know: we show it and never write it. */
export type TaskReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'read'; readonly task: NativeTask }
  | { readonly kind: 'unknown' | 'unreadable'; readonly problem: string };

/** Waiting times of a change, and a callback for what was written. */
export interface ChangeOptions extends LockOptions {
  readonly wrote?: (path: string, written: FileReading) => void;
}

/** Parses a reading of a task file. */
export function taskOf(reading: FileReading, id: string): TaskReading {
  if (reading.kind === 'absent') return reading;
  if (reading.kind === 'unreadable') return { kind: 'unreadable', problem: reading.problem };
  const parsed = NativeTask.safeParse(reading.value);
  if (!parsed.success) return { kind: 'unknown', problem: `has an unknown form: ${issueOf(parsed.error)}` };
  if (parsed.data.id !== id) return { kind: 'unknown', problem: `says that it is task ${parsed.data.id}` };
  return { kind: 'read', task: reading.value as NativeTask };
}

/** Reads a task and waits for a write in progress to finish. */
export async function readTask(paths: NativePaths, id: string): Promise<TaskReading> {
  return taskOf(await readSettled(paths.task(id)), id);
}

/**
 * Changes a task under its lock. `edit` gets the current task and returns the new one, or nothing to leave it. A file
 * that is unreadable or of an unknown form is never written.
 */
export async function changeTaskFile<R>(
  paths: NativePaths,
  id: string,
  edit: (task: NativeTask | undefined) => { readonly write?: NativeTask | undefined; readonly answer: R },
  options: ChangeOptions = {},
): Promise<R> {
  const path = paths.task(id);
  checkFolderOf(path);
  for (let attempt = 1; ; attempt++) {
    const outcome = await underLock(
      path,
      () => {
        const reading = readNow(path);
        const found = taskOf(reading, id);
        if (found.kind === 'unreadable' || found.kind === 'unknown') return found;
        const { write, answer } = edit(found.kind === 'read' ? found.task : undefined);
        if (write !== undefined) {
          const written = replaceFile(path, write, reading.kind === 'read' ? reading.mode : 0o644);
          options.wrote?.(path, written);
        }
        return { kind: 'done' as const, answer };
      },
      options,
    );
    if (outcome.kind === 'done') return outcome.answer;
    // Waits outside the lock: the oldest version writes without taking it.
    if (attempt > 1 || (await readSettled(path, options.settle)).kind === 'unreadable' || outcome.kind === 'unknown') {
      throw new TeamError('corrupt', `${path} ${outcome.problem}: Troupe does not change it`);
    }
  }
}

/** Creates a task under the lock for new ones, with the wanted id if free, else with the next. Returns the id. */
export async function createTaskFile(
  paths: NativePaths,
  task: Omit<NativeTask, 'id'>,
  options: LockOptions & { wanted?: string } = {},
): Promise<string> {
  checkFolderOf(paths.taskList);
  makeFolder(paths.tasks);
  makeFile(paths.taskList);
  return underLock(
    paths.taskList,
    () => {
      const last = lastId(paths);
      const { wanted } = options;
      const id = wanted !== undefined && Number(wanted) > last ? wanted : String(last + 1);
      replaceFile(paths.task(id), orderTask({ ...task, id } as NativeTask));
      return id;
    },
    options,
  );
}

/**
 * Removes a task as Claude Code does: the file goes, its id stays used. It goes to the trash, because others use it
 * too.
 */
export async function removeTaskFile(
  paths: NativePaths,
  id: string,
  { trash, ...options }: LockOptions & { trash: string },
): Promise<void> {
  checkFolderOf(paths.task(id));
  await underLock(
    paths.task(id),
    () => {
      if (readMark(paths) < Number(id)) writeWhole(paths.highWaterMark, id);
      mkdirSync(trash, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replaceAll(':', '-');
      try {
        move(paths.task(id), join(trash, `${stamp}-${paths.name}-${id}.json`));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    },
    options,
  );
}

/** The ids of the existing task files, in numerical order. */
export function taskIds(paths: NativePaths): string[] {
  try {
    return readdirSync(paths.tasks)
      .flatMap((name) => (name.endsWith('.json') && isNativeTaskId(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
      .sort((a, b) => Number(a) - Number(b));
  } catch {
    return [];
  }
}

function lastId(paths: NativePaths): number {
  return Math.max(readMark(paths), Number(taskIds(paths).at(-1) ?? 0));
}

/** The highest number that Claude Code recorded as used. 0 if unreadable: the existing files are enough. */
export function readMark(paths: NativePaths): number {
  try {
    const text = readFileSync(paths.highWaterMark, 'utf8').trim();
    return isNativeTaskId(text) ? Number(text) : 0;
  } catch {
    return 0;
  }
}

function issueOf(error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.map(String).join('.')}: ${issue.message}` : 'unknown';
}
