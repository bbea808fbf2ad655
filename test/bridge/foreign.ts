import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { NativePaths } from '../../src/bridge/layout.ts';

/*
 * A foreign writer: what Claude Code does to its files, as it was observed from outside. The newer version takes a lock per task and
 * tries 31 times; files are rewritten in place.
 */

const PAUSES = [5, 10, 20, 40, 80, 100];

/** Makes the lock directory, taking over one that is older than 10 s; false when it stays held. */
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
    // Taken over meanwhile.
  }
}

/** In place: opened without truncating, written, then cut: a reader in between sees new over old. */
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

/** Every task of a list, as each call of the program reads it; what is half written is read again. */
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

/** Lists, then takes up to so many free tasks, each under its lock; returns their ids, none when none is free. */
export async function foreignClaims(folder: string, name: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const free = foreignList(folder).filter((task) => task.status === 'pending' && task.owner === undefined);
    if (free.length === 0) return ids;
    for (const { id } of free) {
      const path = join(folder, `${id}.json`);
      if (!(await foreignLock(path))) continue;
      try {
        const task = readAgain(path);
        if (task.status !== 'pending' || task.owner !== undefined) continue;
        writeInPlace(path, { ...task, owner: name, status: 'in_progress' });
        ids.push(id);
      } finally {
        foreignUnlock(path);
      }
      if (ids.length >= count) return ids;
    }
  }
}

/** Begins a team as a lead does: a directory with a config. */
export function startTeam(paths: Pick<NativePaths, 'team' | 'config'>): void {
  mkdirSync(paths.team, { recursive: true });
  writeFileSync(paths.config, JSON.stringify({ name: 'demo', leadAgentId: 'team-lead@demo', members: [] }));
}
