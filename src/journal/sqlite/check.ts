import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { TeamError } from '../../core/errors.ts';
import { isCorrupt } from './errors.ts';

/** Files up to this size are looked through whenever they are opened: 1.25 ms for each megabyte. */
const ALWAYS_BYTES = 32 * 1024 * 1024;
/** And up to this size when the last who had it open did not close it: what a crash of the machine spoils is found then. */
const AFTER_CRASH_BYTES = 256 * 1024 * 1024;
/** How much of what is wrong is told. */
const FAULTS = 3;

/** Whether a file of that size is worth the time that looking through it takes. */
export function isWorthChecking(path: string, { wasClosed }: { wasClosed: boolean }): boolean {
  return statSync(path).size <= (wasClosed ? ALWAYS_BYTES : AFTER_CRASH_BYTES);
}

/**
 * What is wrong with how the file is put together, in SQLite's words; undefined where nothing is. Batches have checksums,
 * but a page that stands in another's place hides batches and garbles none: a team would only be shorter. The teams are few, and
 * their names are compared with their index at every opening; the rest is looked through where `whole` says so.
 */
export function findDamage(db: DatabaseSync, { whole }: { whole: boolean }): string | undefined {
  const checks = [`PRAGMA integrity_check('teams')`, WRONG_IDS, ...(whole ? [`PRAGMA quick_check(${FAULTS})`] : [])];
  for (const check of checks) {
    const faults = faultsBy(db, check);
    if (faults.length > 0) return faults.slice(0, FAULTS).join('; ').replaceAll(/\s+/g, ' ');
  }
  return undefined;
}

/** SQLite's own table of the ids that were given, which it takes as it is: an id that comes back would be another team's. */
const WRONG_IDS = `
  SELECT 'the ids of teams do not agree with sqlite_sequence' WHERE
    EXISTS (SELECT 1 FROM sqlite_sequence WHERE name IS NOT 'teams' OR typeof(seq) <> 'integer') OR
    (SELECT max(id) FROM teams) > coalesce((SELECT max(seq) FROM sqlite_sequence), 0)`;

/** Nothing is written to a file that is damaged: any team may have lost something, and writing may destroy what is left. */
export function damagedFile(path: string, damage: string): TeamError {
  return new TeamError(
    'corrupt',
    `${path} is damaged, and nothing is written to it: any team in it may lack batches (${damage}). ` +
      'Restore it from a copy. Teams that can be read can be copied to another journal: troupe journal copy.',
  );
}

function faultsBy(db: DatabaseSync, check: string): string[] {
  try {
    const found = db
      .prepare(check)
      .all()
      .map((row) => String(Object.values(row)[0]));
    return found.filter((fault) => fault !== 'ok');
  } catch (error) {
    if (isCorrupt(error)) return [(error as Error).message];
    throw error;
  }
}
