import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { findDamage, isWorthChecking } from './check.ts';
import { readEnds } from './rows.ts';

/** The mark of a file: how far each of its teams had come. */
const markOf = (path: string): string => `${path}.mark`;

/** How many teams a message names. */
const NAMED = 3;

/** The last batch of each team. */
type Ends = ReadonlyMap<string, Seq>;

/** A team that the mark has, and the file has not, or only up to batch `now`. */
export interface Lost {
  readonly team: string;
  readonly seq: Seq;
  /** 0 if the team is gone. */
  readonly now: Seq;
}

/** The mark of a file that this process alone writes. */
export interface Mark {
  /** A batch is durable. */
  reached(team: string, seq: Seq): void;
  /** The team is about to be dropped. */
  forget(team: string): void;
  close(): void;
}

/**
 * Keeps the mark of a file. SQLite takes an emptied or overwritten log for none, and a missing file for a new one. Only
 * something outside of both can show what they had. The mark never runs ahead: it has only what is durable, and a team
 * leaves it before it leaves the file. Each write is another flush, so it comes at intervals and not with each commit.
 */
export function keepMark(path: string, present: Ends, everyMs: number): Mark {
  const ends = new Map(present);
  let timer: NodeJS.Timeout | undefined;
  let behind: Promise<void> | undefined;
  /** Grows with each write, so that an older one that is still under way does not replace a newer one. */
  let turn = 0;
  if (textOf(ends) !== readText(path)) write();

  function write(): void {
    turn++;
    // An old mark would miss a team that was dropped. No mark misses nothing.
    if (!writeMark(path, ends)) removeMark(path);
  }

  /** Flushed by another thread: commits go on meanwhile. */
  async function writeBehind(): Promise<void> {
    const mine = ++turn;
    const draft = `${markOf(path)}.${mine % 2}.tmp`;
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(textOf(ends));
        await file.datasync();
      } finally {
        await file.close();
      }
      if (mine === turn) renameSync(draft, markOf(path));
      else rmSync(draft, { force: true });
    } catch {
      // The next commit tries again. Until then the mark is older, and notices less.
    }
    behind = undefined;
  }

  return {
    reached(team, seq) {
      ends.set(team, seq);
      timer ??= setTimeout(() => {
        timer = undefined;
        behind = writeBehind();
      }, everyMs).unref();
    },
    forget(team) {
      if (ends.delete(team)) write();
    },
    close() {
      if (timer !== undefined || behind !== undefined) write();
      clearTimeout(timer);
    },
  };
}

/** Forgets a team for a process that shares the file with others and keeps no mark. */
export function forgetInMark(path: string, team: string): void {
  const ends = readMark(path);
  if (ends.delete(team) && !writeMark(path, ends)) removeMark(path);
}

/**
 * Refuses a file that has less than its mark says, before SQLite changes anything: opening a file for writing removes a
 * log that SQLite does not understand.
 */
export function requireMarked(path: string): void {
  const lost = findLost(path);
  if (lost.length === 0) return;
  // A file with damaged pages is opened for reading only, and says so.
  if (readFile(path, (db) => findDamage(db, { whole: isWorthChecking(path, { wasClosed: false }) }))) return;
  throw new TeamError(
    'corrupt',
    `${path} has lost batches: ${nameLost(lost)}. Nothing is written until you decide: ` +
      'restore it and its log from a copy, or continue with what is left: troupe journal accept',
  );
}

/** The teams that have lost batches, in words; at most three by name. */
export function nameLost(lost: readonly Lost[]): string {
  const named = lost.slice(0, NAMED).map(({ team, seq, now }) => {
    const rest = now === 0 ? 'is gone' : `ends at batch ${now}`;
    return `team ${JSON.stringify(team)} had ${seq} ${seq === 1 ? 'batch' : 'batches'} and ${rest}`;
  });
  return [...named, ...(lost.length > NAMED ? [`and ${lost.length - NAMED} more teams`] : [])].join('; ');
}

/** What the mark has and the file has not. */
export function findLost(path: string): Lost[] {
  const marked = readMark(path);
  const found = marked.size > 0 ? endsIn(path) : undefined;
  if (found === undefined) return [];
  return [...marked]
    .map(([team, seq]) => ({ team, seq, now: found.get(team) ?? 0 }))
    .filter(({ seq, now }) => now < seq);
}

/** Removes the mark: whatever the file has now is right. */
export function removeMark(path: string): void {
  rmSync(markOf(path), { recursive: true, force: true });
}

/** The teams in the file; undefined if opening it will say why they cannot be read. */
function endsIn(path: string): Ends | undefined {
  if (!isFilled(path)) return new Map();
  return readFile(path, (db) => {
    const hasTables = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'batches'`).get() !== undefined;
    return hasTables ? readEnds(db) : new Map<string, Seq>();
  });
}

function readFile<T>(path: string, read: (db: DatabaseSync) => T): T | undefined {
  if (!isFilled(path)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    return read(db);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

function isFilled(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** A mark that is missing or unreadable says nothing. */
function readMark(path: string): Map<string, Seq> {
  try {
    const { teams } = JSON.parse(readText(path)) as { teams: Record<string, unknown> };
    return new Map(Object.entries(teams).filter((entry): entry is [string, Seq] => Number.isInteger(entry[1])));
  } catch {
    return new Map();
  }
}

function readText(path: string): string {
  try {
    return readFileSync(markOf(path), 'utf8');
  } catch {
    return '';
  }
}

/** Writes the mark, and flushes its name too. Returns false if that failed: the journal works without it. */
function writeMark(path: string, ends: Ends): boolean {
  const draft = `${markOf(path)}.tmp`;
  try {
    const file = openSync(draft, 'w', 0o600);
    try {
      writeFileSync(file, textOf(ends));
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, markOf(path));
    const folder = openSync(dirname(path), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    return true;
  } catch {
    return false;
  }
}

function textOf(ends: Ends): string {
  return `${JSON.stringify({ teams: Object.fromEntries(ends) })}\n`;
}
