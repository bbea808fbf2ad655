import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { NativePaths } from '../../src/bridge/layout.ts';

/*
 * A foreign writer: does to the files what Claude Code was observed to do. The newer version takes a lock per task and
 * tries 31 times; it rewrites files in place.
 */

const PAUSES = [5, 10, 20, 40, 80, 100];

/** Makes the lock directory. Takes over a lock older than 10 s; false if it stays held. */
export async function foreignLock(path: string, attempts = 31): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      mkdirSync(`${path}.lock`);
      return true;
    } catch {
      const age = Date.now() - (statSync(`${path}.lock`, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > 10_000) foreignUnlock(path);
      else await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(attempt, PAUSES.length - 1)]));
    }
  }
  return false;
}

export function foreignUnlock(path: string): void {
  try {
    rmdirSync(`${path}.lock`);
  } catch {
    // Another process took the lock over.
  }
}

/**
 * Holds the lock beside a file, as another program would. Its time is in the future, so it never counts as old, however
 * slow the machine is.
 */
export function holdLock(path: string): string {
  const later = new Date(Date.now() + 3_600_000);
  const lock = `${path}.lock`;
  mkdirSync(lock);
  utimesSync(lock, later, later);
  return lock;
}

/** Writes in place: opens without truncating, writes, then truncates. A reader in between sees new over old. */
export function writeInPlace(path: string, value: unknown): void {
  const file = openSync(path, 'r+');
  const bytes = Buffer.from(JSON.stringify(value, undefined, 2));
  writeSync(file, bytes, 0, bytes.length, 0);
  ftruncateSync(file, bytes.length);
  closeSync(file);
}

interface Task {
  id: string;
  owner?: string;
  status: string;
  blockedBy?: string[];
}

/** Reads every task file of a list, as the program does for each claim. Reads a half-written file again. */
function foreignList(folder: string): Task[] {
  return readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => readAgain(join(folder, name)))
    .sort((a, b) => Number(a.id) - Number(b.id));
}

function readAgain(path: string): Task {
  for (let attempt = 0; ; attempt++) {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Task;
    } catch (error) {
      if (attempt > 1000) throw error;
    }
  }
}

/**
 * Takes the first free task, call by call like an idle teammate of the program (bench/README.md says how that was
 * observed). It lists the tasks. Under the task's lock it reads the task again, lists again to check the dependencies,
 * and writes its name. Then it takes the lock a second time to write that it has started. If another process was first,
 * it starts over: the program after half a second, this one at once. The program's calls to resolve real paths are left
 * out. Returns the task's id, or nothing if none is free.
 */
export async function foreignClaim(folder: string, name: string): Promise<string | undefined> {
  for (;;) {
    const id = firstFree(foreignList(folder));
    if (id === undefined) return undefined;
    const path = join(folder, `${id}.json`);
    readAgain(path);
    const isMine = await change(path, (task) => {
      if (!isFree(task) || firstFree(foreignList(folder), id) !== id) return undefined;
      return { ...readAgain(path), owner: name };
    });
    if (!isMine) continue;
    readAgain(path);
    await change(path, (task) => ({ ...task, status: 'in_progress' }));
    return id;
  }
}

/** The first task that is free, or `wanted` if it is free. */
function firstFree(list: readonly Task[], wanted?: string): string | undefined {
  const open = new Set(list.flatMap(({ id, status }) => (status === 'completed' ? [] : id)));
  const isReady = (task: Task): boolean => isFree(task) && !task.blockedBy?.some((blocker) => open.has(blocker));
  return list.find((task) => (wanted === undefined || task.id === wanted) && isReady(task))?.id;
}

function isFree({ status, owner }: Task): boolean {
  return status === 'pending' && owner === undefined;
}

/** Reads a task under its lock and writes it in place; false if there is nothing to write, or it stays locked. */
async function change(path: string, edit: (task: Task) => Task | undefined): Promise<boolean> {
  if (!(await foreignLock(path))) return false;
  try {
    statSync(`${path}.lock`);
    const task = edit(readAgain(path));
    if (task) writeInPlace(path, task);
    return task !== undefined;
  } finally {
    foreignUnlock(path);
  }
}

/** Begins a team as a lead does: a directory with a config. */
export function startTeam(paths: Pick<NativePaths, 'team' | 'config'>): void {
  mkdirSync(paths.team, { recursive: true });
  writeFileSync(paths.config, JSON.stringify({ name: 'demo', leadAgentId: 'team-lead@demo', members: [] }));
}
