import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { TeamError } from '../../core/errors.ts';
import { isCorrupt } from './errors.ts';
import { ENDS } from './rows.ts';

/** Files up to this size are checked whenever they are opened: 1.25 ms per megabyte. */
const ALWAYS_BYTES = 32 * 1024 * 1024;
/** Files up to this size are checked if the last process did not close them: that finds damage from a machine crash. */
const AFTER_CRASH_BYTES = 256 * 1024 * 1024;
/** How many faults to report. */
const FAULTS = 3;

/** Whether a file is small enough to check. */
export function isWorthChecking(path: string, { wasClosed }: { wasClosed: boolean }): boolean {
  return statSync(path).size <= (wasClosed ? ALWAYS_BYTES : AFTER_CRASH_BYTES);
}

/**
 * Damage to the structure of the file, in SQLite's words; undefined if there is none. Batches have checksums. But a
 * page in another's place hides batches without garbling any, so a team would just be shorter. Teams are few: every
 * opening compares their names with the index. Everything else is checked if `whole` is set, and whether the last batch
 * of each team can be found if `ends` is set.
 */
export function findDamage(
  db: DatabaseSync,
  { whole, ends = false }: { whole: boolean; ends?: boolean },
): string | undefined {
  const checks = [
    `PRAGMA integrity_check('teams')`,
    WRONG_IDS,
    ...(whole ? [`PRAGMA quick_check(${FAULTS})`] : []),
    ...(ends ? [`SELECT name FROM (${ENDS}) WHERE seq < 0`] : []),
  ];
  for (const check of checks) {
    const faults = faultsBy(db, check);
    if (faults.length > 0) return faults.slice(0, FAULTS).join('; ').replaceAll(/\s+/g, ' ');
  }
  return undefined;
}

/** Checks SQLite's table of used ids, which SQLite trusts: a reused id would give one team another's batches. */
const WRONG_IDS = `
  SELECT 'the ids of teams do not agree with sqlite_sequence' WHERE
    EXISTS (SELECT 1 FROM sqlite_sequence WHERE name IS NOT 'teams' OR typeof(seq) <> 'integer') OR
    (SELECT max(id) FROM teams) > coalesce((SELECT max(seq) FROM sqlite_sequence), 0)`;

/** Nothing is written to a damaged file: any team may have lost batches, and writing may destroy what is left. */
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
