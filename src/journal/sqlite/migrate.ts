import type { DatabaseSync } from 'node:sqlite';
import { TeamError } from '../../core/errors.ts';
import { journal } from './migrations/001-journal.ts';

/** In order; the n-th migrates a file from `user_version` n - 1 to n. Never change a released one: add another. */
const MIGRATIONS: readonly string[] = [journal];
/** `TRUP`, which migration 1 writes into the header: it marks a database as ours. */
const APPLICATION_ID = 0x54525550;

/** Migrates the database to this version's schema, once, even if several processes open it at the same time. */
export function migrate(db: DatabaseSync, path: string): void {
  if (isCurrent(db, path)) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been first. This one then has nothing left to do, or finds a newer version's file.
    isCurrent(db, path);
    for (const sql of MIGRATIONS.slice(readNumber(db, 'user_version'))) db.exec(sql);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // After some errors, such as a full disk, SQLite has already rolled back.
    }
    throw error;
  }
}

/** Whether nothing is left to do; throws for a file that is not ours or that a newer version wrote. */
export function isCurrent(db: DatabaseSync, path: string): boolean {
  const version = readNumber(db, 'user_version');
  const isNew = version === 0 && readNumber(db, 'schema_version') === 0;
  if (!isNew && readNumber(db, 'application_id') !== APPLICATION_ID) {
    throw new TeamError('corrupt', `${path} is the database of another program. Choose another path for the journal.`);
  }
  if (version > MIGRATIONS.length) {
    throw new TeamError(
      'unsupported',
      `${path} was written by a newer Troupe (schema ${version}, this one knows ${MIGRATIONS.length}). ` +
        'Update Troupe to open it; the file was not touched.',
    );
  }
  return version === MIGRATIONS.length;
}

/** The value of a pragma that is a number in the header of the file. */
function readNumber(db: DatabaseSync, pragma: string): number {
  return Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}
