import { lstatSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import type { Seq } from '../journal.ts';
import { nameLost, readMark } from '../mark.ts';
import type { Ends, Lost } from '../mark.ts';
import { DatabaseSync } from '../node-sqlite.ts';
import { findDamage, isWorthChecking } from './check.ts';
import { readEnds } from './rows.ts';

/** The mark of a file: the last batch of each of its teams. SQLite takes an emptied or overwritten log for none. */
export const markOf = (path: string): string => `${path}.mark`;

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

/** What the mark has and the file has not. */
export function findLost(path: string): Lost[] {
  const marked = [...readMark(markOf(path))].filter((entry): entry is [string, Seq] => Number.isInteger(entry[1]));
  const found = marked.length > 0 ? endsIn(path) : undefined;
  if (found === undefined) return [];
  return marked.map(([team, seq]) => ({ team, seq, now: found.get(team) ?? 0 })).filter(({ seq, now }) => now < seq);
}

/** The teams in the file; undefined if opening it will say why they cannot be read. */
function endsIn(path: string): Ends<Seq> | undefined {
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
